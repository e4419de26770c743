; What C++ defines and uses, besides what stands in c.scm.

(class_specifier name: (type_identifier) @name body: (_)) @definition.type
(namespace_definition name: (namespace_identifier) @name) @definition.module
(alias_declaration name: (type_identifier) @name) @definition.type
(function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @definition.function
(function_definition declarator: (function_declarator
  declarator: (qualified_identifier name: (identifier) @name))) @definition.function
(function_definition declarator: (reference_declarator
  (function_declarator declarator: [
    (identifier) @name
    (field_identifier) @name
    (qualified_identifier name: (identifier) @name)]))) @definition.function
(function_definition declarator: (pointer_declarator
  declarator: (function_declarator declarator: [
    (field_identifier) @name
    (qualified_identifier name: (identifier) @name)]))) @definition.function
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @definition.function
(field_declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (field_identifier) @name))) @definition.function
(field_declaration declarator: (reference_declarator
  (function_declarator declarator: (field_identifier) @name))) @definition.function

(call_expression function: (qualified_identifier name: (identifier) @reference))
(template_function name: (identifier) @reference)
