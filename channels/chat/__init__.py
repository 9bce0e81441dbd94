"""What the adapters of chat platforms share.

`tokens`: their secrets. `commands` and `buttons`: what people type and press; `words`: what says
nothing. `seen`: what was heard already;
`looking_back`: whether a post stands there. `ending`: what ends a surface; `reasons` and `library_lines`: what failed,
and what a platform's library says.
"""
