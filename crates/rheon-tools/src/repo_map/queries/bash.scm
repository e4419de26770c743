; What shell scripts define and use.

(function_definition name: (word) @name) @definition.function

(command_name (word) @reference)
