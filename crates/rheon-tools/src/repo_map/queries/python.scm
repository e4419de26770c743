; What Python defines and uses.

(class_definition name: (identifier) @name) @definition.type
(function_definition name: (identifier) @name) @definition.function
(module (expression_statement (assignment left: (identifier) @name) @definition.constant))

(call function: (identifier) @reference)
(call function: (attribute attribute: (identifier) @reference))
(import_from_statement name: (dotted_name (identifier) @reference))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @reference)))
(class_definition superclasses: (argument_list (identifier) @reference))
(class_definition superclasses: (argument_list (attribute attribute: (identifier) @reference)))
(decorator (identifier) @reference)
(decorator (attribute attribute: (identifier) @reference))
(type (identifier) @reference)
