"""Tests of scripts/check-layers: what it finds and what it lets pass."""
import unittest

from script_case import ScriptCase

TABLE = """# Architecture

## Modules

| Module | Owns | May use |
|---|---|---|
| `base` | errors | nothing |
| `flow` | paths | base |
| `stm` `itm` | packets | base, flow |

## Next
"""
FILES = {
    'docs/architecture.md': TABLE,
    'include/waymark/base/result.h': '#include <string>\n',
    'src/base/CMakeLists.txt': 'waymark_module(base\n  SOURCES cursor.cc)\n',
    'src/base/cursor.h': '',
    'src/base/cursor.cc': '#include "cursor.h"\n#include "waymark/base/result.h"\n',
    'src/flow/CMakeLists.txt': 'waymark_module(flow\n  USES base\n  LIBRARIES zlib\n  SOURCES path.cc)\n',
    'src/flow/path.cc': '#include "waymark/base/result.h"\n',
    'src/stm/CMakeLists.txt': 'waymark_module(stm\n  USES base\n       flow\n  SOURCES\n    parser.cc)\n',
    'src/stm/parser.cc': '#include "waymark/flow/path.h"\n',
    'src/itm/CMakeLists.txt': 'waymark_module(itm USES base flow SOURCES parser.cc)\n',
    'src/itm/parser.cc': '#include "waymark/base/result.h"\n',
}


class Layers(ScriptCase):
    script = 'check-layers'
    files = FILES

    def test_a_clean_tree(self):
        self.check({})

    def test_an_include_against_the_table(self):
        self.check({'src/flow/walk.cc': '#include "waymark/stm/packet.h"\n'}, 'src/flow/walk.cc: flow may not use stm.')

    def test_one_protocol_includes_another(self):
        self.check({'src/stm/text.cc': '  #  include "waymark/itm/text.h"\n'}, 'src/stm/text.cc: stm may not use itm.')

    def test_a_private_header(self):
        self.check({'src/flow/walk.cc': '#include "../base/cursor.h"\n'},
                   'src/flow/walk.cc: ../base/cursor.h is a private header of base.')
        self.check({'src/flow/walk.cc': '#include "base/cursor.h"\n'},
                   'src/flow/walk.cc: base/cursor.h is a private header of base.')

    def test_the_option_library(self):
        self.check({'tools/waymark/command.cc': '#include <CLI/CLI.hpp>\n'})
        self.check({'tools/waymark/count.cc': '#include <CLI/CLI.hpp>\n'},
                   'tools/waymark/count.cc: it may not include CLI11; command.h has what it needs.')

    def test_a_row_that_is_not_used(self):
        self.check({'src/stm/parser.cc': ''}, 'docs/architecture.md: stm itm may use flow, but does not.')

    def test_a_row_that_is_not_above(self):
        self.check({'docs/architecture.md': TABLE.replace('| errors | nothing |', '| errors | flow |'),
                    'src/base/CMakeLists.txt': 'waymark_module(base USES flow SOURCES cursor.cc)\n',
                    'src/base/cursor.cc': '#include "waymark/flow/path.h"\n'},
                   'docs/architecture.md: base may use flow, which is not above it.')

    def test_a_target_that_differs_from_its_row(self):
        self.check({'src/flow/CMakeLists.txt': 'waymark_module(flow\n  USES base stm\n  SOURCES path.cc)\n'},
                   'src/flow/CMakeLists.txt: flow uses stm, which is not in its row of the table.')
        self.check({'src/itm/CMakeLists.txt': 'waymark_module(itm\n  USES base\n  SOURCES flow)\n'},
                   'src/itm/CMakeLists.txt: itm does not use flow, which is in its row of the table.')
        self.check({'src/flow/CMakeLists.txt': 'waymark_module(walk USES base SOURCES path.cc)\n'},
                   'src/flow/CMakeLists.txt: it must have one waymark_module(flow ...).')

    def test_headers_of_the_api(self):
        name = 'src/base/CMakeLists.txt'
        self.check({name: 'waymark_module(base API result.h SOURCES cursor.cc)\n'})
        self.check({name: 'waymark_module(base API result.h words.h SOURCES cursor.cc)\n'},
                   f'{name}: the header words.h does not exist.')

    def test_folders_of_programs(self):
        def row(uses):
            return TABLE.replace('\n## Next', f'| `tools/show` | a program | {uses} |\n\n## Next')
        main = {'tools/show/main.cc': '#include "waymark/flow/path.h"\n#include "main.h"\n'}
        self.check({'docs/architecture.md': row('all'), **main})
        self.check({'docs/architecture.md': row('flow'), **main})
        self.check({'docs/architecture.md': row('base, flow'), **main},
                   'docs/architecture.md: tools/show may use base, but does not.')
        self.check({'docs/architecture.md': row('base'), 'tools/show/main.cc': '#include "waymark/flow/path.h"\n'},
                   'tools/show/main.cc: tools/show may not use flow.',
                   'docs/architecture.md: tools/show may use base, but does not.')
        self.check({'docs/architecture.md': row('all')}, 'docs/architecture.md: there is no module tools/show.')

    def test_modules_and_rows(self):
        self.check({'src/tree/tree.cc': ''}, 'docs/architecture.md: the module tree has no row.')
        self.check({'docs/architecture.md': TABLE.replace('`itm`', '`itm` `ete`')},
                   'docs/architecture.md: there is no module ete.')


if __name__ == '__main__':
    unittest.main()
