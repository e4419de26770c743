; What Java defines and uses.

(class_declaration name: (identifier) @name) @definition.type
(interface_declaration name: (identifier) @name) @definition.type
(enum_declaration name: (identifier) @name) @definition.type
(record_declaration name: (identifier) @name) @definition.type
(annotation_type_declaration name: (identifier) @name) @definition.type
(method_declaration name: (identifier) @name) @definition.function
(constructor_declaration name: (identifier) @name) @definition.function

(type_identifier) @reference
(method_invocation name: (identifier) @reference)
(method_reference (identifier) @reference .)
(marker_annotation name: (identifier) @reference)
(annotation name: (identifier) @reference)
