; What elements in TypeScript and JavaScript use, besides what stands in typescript.scm.

(jsx_opening_element name: (identifier) @reference)
(jsx_self_closing_element name: (identifier) @reference)
