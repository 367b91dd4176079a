"""Tests of scripts/check-structs: what it finds and what it lets pass."""
import shutil
import unittest

from script_case import ScriptCase

TABLE = """# Architecture

### Large structs

| Struct | Why |
|---|---|
| `stm::Packet` `stm::Quirks` | one field of a packet each |

## Next
"""


def fields(count, kind='int'):
    return ''.join(f'  {kind} field{i} = 0;\n' for i in range(count))


def struct(name, text):
    return f'namespace waymark::stm {{\nstruct {name} {{\n{text}}};\n}}\n'


FILES = {
    'docs/architecture.md': TABLE,
    'include/waymark/stm/packet.h': struct('Packet', fields(16)),
    'src/stm/quirks.h': struct('Quirks', fields(20, 'bool')),
    'compat/opencsd/tree.h': struct('Tree', fields(15)),
    'tools/waymark/main.cc': 'int main() {}\n',
}


@unittest.skipUnless(shutil.which('ctags-universal') or shutil.which('ctags'), 'ctags is not installed')
class Structs(ScriptCase):
    script = 'check-structs'
    files = FILES

    def test_a_clean_tree(self):
        self.check({})

    def test_a_struct_without_a_row(self):
        finding = 'stm::Decoder has 16 fields; make objects of those that are set and read together.'
        self.check({'src/stm/decoder.cc': struct('Decoder', fields(16))}, f'src/stm/decoder.cc: {finding}')
        # Without a name in the scope: in an unnamed namespace.
        self.check({'src/stm/decoder.cc': struct('Decoder', fields(16)).replace('struct', 'namespace {\nstruct') + '}\n'},
                   f'src/stm/decoder.cc: {finding}')

    def test_what_is_not_counted(self):
        constants = ''.join(f'  static constexpr int kConstant{i} = {i};\n' for i in range(9))
        functions = ''.join(f'  int function{i}() const;\n  using Type{i} = int;\n' for i in range(9))
        nested = f'  struct Inner {{\n{fields(9)}  }};\n'
        self.check({'src/stm/decoder.h': struct('Decoder', fields(15) + constants + functions + nested)})

    def test_a_nested_struct(self):
        self.check({'src/stm/decoder.h': struct('Decoder', f'  struct Inner {{\n{fields(17)}  }};\n')},
                   'src/stm/decoder.h: stm::Decoder::Inner has 17 fields; '
                   'make objects of those that are set and read together.')

    def test_a_row_that_nothing_needs(self):
        self.check({'src/stm/quirks.h': struct('Quirks', fields(15))},
                   'docs/architecture.md: stm::Quirks has no more than 15 fields, so it needs no row.')
        self.check({'docs/architecture.md': TABLE.replace('`stm::Packet`', '`stm::Packet` `itm::Packet`')},
                   'docs/architecture.md: itm::Packet has no more than 15 fields, so it needs no row.')


if __name__ == '__main__':
    unittest.main()
