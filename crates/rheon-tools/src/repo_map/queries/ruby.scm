; What Ruby defines and uses.

(method name: (_) @name) @definition.function
(singleton_method name: (_) @name) @definition.function
(class name: (constant) @name) @definition.type
(class name: (scope_resolution name: (constant) @name)) @definition.type
(module name: (constant) @name) @definition.module
(module name: (scope_resolution name: (constant) @name)) @definition.module
(assignment left: (constant) @name) @definition.constant

(constant) @reference
(call method: (identifier) @reference)
