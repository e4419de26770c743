; What Rust defines and uses.

(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(struct_item name: (type_identifier) @name) @definition.type
(enum_item name: (type_identifier) @name) @definition.type
(union_item name: (type_identifier) @name) @definition.type
(type_item name: (type_identifier) @name) @definition.type
(trait_item name: (type_identifier) @name) @definition.type
(mod_item name: (identifier) @name body: (_)) @definition.module
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant
(macro_definition name: (identifier) @name) @definition.function
(impl_item type: (type_identifier) @name) @definition.scope
(impl_item type: (generic_type type: (type_identifier) @name)) @definition.scope
(impl_item type: (scoped_type_identifier name: (type_identifier) @name)) @definition.scope

(type_identifier) @reference
(scoped_identifier name: (identifier) @reference)
(use_list (identifier) @reference)
(macro_invocation macro: (identifier) @reference)
(call_expression function: (identifier) @reference)
(call_expression function: (field_expression field: (field_identifier) @reference))
(call_expression function: (generic_function function: (identifier) @reference))
(call_expression function: (generic_function function: (field_expression field: (field_identifier) @reference)))
; In the arguments of a macro there is no call yet, only a name before parentheses.
(token_tree (identifier) @reference . (token_tree))
