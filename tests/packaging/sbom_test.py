"""Tests of scripts/sbom: what it finds in a small build, the document, and what it does not accept."""
import copy
import hashlib
import importlib.machinery
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EPOCH = '1795860000'
BUILD = '''cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES C CXX)
add_executable(shared program.cc)
target_link_libraries(shared PRIVATE z)
add_executable(static program.cc)
target_link_options(static PRIVATE -static)
target_link_libraries(static PRIVATE /usr/lib/${CMAKE_C_LIBRARY_ARCHITECTURE}/libz.a)
'''
PROGRAM = '''#include <nlohmann/json_fwd.hpp>
#include <zlib.h>
#include <vector>
int main() { return static_cast<int>(std::vector<int>(1, zlibVersion()[0]).size()) - 1; }
'''


def sbom(*arguments, good=True):
    done = subprocess.run([sys.executable, ROOT / 'scripts/sbom', *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, 'SOURCE_DATE_EPOCH': EPOCH})
    if good and done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return done


sys.dont_write_bytecode = True


class Sbom(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def parts(self, *arguments):
        sbom('parts', *arguments, '-o', self.folder / 'parts.json')
        return {(part['name'], part['how']): part for part in json.loads((self.folder / 'parts.json').read_text())}

    def document(self):
        (self.folder / 'waymark-1.2.3.tar.xz').write_bytes(b'sources')
        (self.folder / 'waymark_1.2.3_amd64.deb').write_bytes(b'package')
        (self.folder / 'parts.json').write_text(json.dumps([
            {'name': 'libz-dev', 'version': '1:1.2.13.dfsg-1+b1', 'architecture': 'amd64', 'source': 'zlib',
             'source_version': '1:1.2.13.dfsg-1', 'homepage': 'http://zlib.net/', 'how': 'static'},
            {'name': 'libc6', 'version': '2.36-9', 'architecture': 'amd64', 'source': 'glibc', 'source_version': '2.36-9',
             'homepage': '', 'how': 'shared'},
            {'name': 'esbuild', 'version': '0.17.0-1', 'architecture': 'amd64', 'source': 'golang-esbuild',
             'source_version': '0.17.0-1', 'homepage': '', 'how': 'tool'},
            {'name': '@scope/part', 'version': '1.0.0', 'how': 'npm'}]))
        sbom('write', '--version', '1.2.3', '--artefact', f'{self.folder}/waymark-1.2.3.tar.xz=', '--artefact',
             f'{self.folder}/waymark_1.2.3_amd64.deb={self.folder}/parts.json', '-o', self.folder / 'out.json')
        return json.loads((self.folder / 'out.json').read_text())

    @unittest.skipUnless(shutil.which('dpkg-query') and shutil.which('ninja'), 'it needs dpkg and ninja')
    def test_what_a_build_consists_of(self):
        (self.folder / 'CMakeLists.txt').write_text(BUILD)
        (self.folder / 'program.cc').write_text(PROGRAM)
        build = self.folder / 'build'
        for command in (['cmake', '-G', 'Ninja', '-S', self.folder, '-B', build], ['cmake', '--build', build]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        shared = self.parts(build, 'shared')
        self.assertIn(('zlib1g', 'shared'), shared)
        self.assertIn(('libc6', 'shared'), shared)
        self.assertIn(('libstdc++6', 'shared'), shared)
        # A header is a part if it has code, and if its library is not in the list already.
        self.assertEqual([name for name, how in shared if how == 'headers'], ['nlohmann-json3-dev'])
        self.assertNotIn('static', {how for _, how in shared})
        version = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', 'zlib1g'], capture_output=True, text=True,
                                 check=True).stdout
        self.assertEqual(shared['zlib1g', 'shared']['version'], version)
        static = self.parts(build, 'static')
        self.assertLessEqual({('zlib1g-dev', 'static'), ('libc6-dev', 'static')}, set(static))
        self.assertNotIn('shared', {how for _, how in static})
        self.assertIn(('zlib1g', 'copied'), self.parts(build, '--copied', 'zlib1g'))

    def test_the_document(self):
        document = self.document()
        self.assertEqual(sbom('validate', self.folder / 'out.json').stdout, '')
        self.assertEqual(document['creationInfo']['created'], '2026-11-28T10:00:00Z')
        packages = {package['name']: package for package in document['packages']}
        self.assertEqual(set(packages), {'waymark-1.2.3.tar.xz', 'waymark_1.2.3_amd64.deb', 'libz-dev', 'libc6', 'esbuild',
                                         '@scope/part'})
        self.assertEqual(packages['waymark-1.2.3.tar.xz']['checksums'],
                         [{'algorithm': 'SHA256', 'checksumValue': hashlib.sha256(b'sources').hexdigest()}])
        self.assertRegex(packages['libz-dev']['externalRefs'][0]['referenceLocator'],
                         r'^pkg:deb/debian/libz-dev@1%3A1\.2\.13\.dfsg-1%2Bb1\?arch=amd64&distro=debian-\d+$')
        self.assertEqual(packages['@scope/part']['externalRefs'][0]['referenceLocator'], 'pkg:npm/%40scope/part@1.0.0')
        kinds = {(one['relationshipType'], one['relatedSpdxElement']) for one in document['relationships']}
        self.assertLessEqual({('STATIC_LINK', 'SPDXRef-deb-libz-dev'), ('DYNAMIC_LINK', 'SPDXRef-deb-libc6'),
                              ('CONTAINS', 'SPDXRef-npm--scope-part'),
                              ('BUILD_TOOL_OF', 'SPDXRef-artefact-waymark-1.2.3-amd64.deb')}, kinds)

    def test_the_same_artefacts_give_the_same_bytes(self):
        self.document()
        first = (self.folder / 'out.json').read_bytes()
        self.document()
        self.assertEqual((self.folder / 'out.json').read_bytes(), first)

    def check_finding(self, change, finding):
        document = copy.deepcopy(self.valid)
        change(document)
        (self.folder / 'changed.json').write_text(json.dumps(document))
        done = sbom('validate', self.folder / 'changed.json', good=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(finding, done.stdout)

    def test_what_is_not_spdx(self):
        self.valid = self.document()
        first = self.valid['packages'][0]['SPDXID']
        for change, finding in (
                (lambda one: one.pop('documentNamespace'), 'The document has no documentNamespace.'),
                (lambda one: one.update(dataLicense='MIT'), 'dataLicense is "MIT"'),
                (lambda one: one.update(author='me'), 'SPDX 2.3 has no field author.'),
                (lambda one: one['creationInfo'].update(created='today'), 'created is "today"'),
                (lambda one: one['creationInfo'].update(creators=[]), 'creators are missing'),
                (lambda one: one['packages'][0].pop('downloadLocation'), f'Package {first} has no downloadLocation.'),
                (lambda one: one['packages'][0].pop('filesAnalyzed'), 'no packageVerificationCode'),
                (lambda one: one['packages'][0].update(supplier='me'), 'supplier is "me"'),
                (lambda one: one['packages'][0].update(SPDXID='SPDXRef-a_b'), 'SPDXID is "SPDXRef-a_b"'),
                (lambda one: one['packages'][1].update(SPDXID=first), f'Two packages have the SPDXID {first}.'),
                (lambda one: one['packages'][0]['checksums'][0].update(checksumValue='12'), 'a checksum is not valid.'),
                (lambda one: one['relationships'][0].update(relatedSpdxElement='SPDXRef-x'), 'leads to SPDXRef-x'),
                (lambda one: one['relationships'][0].update(relationshipType='HAS'), 'SPDX has no relationship HAS.'),
                (lambda one: one.pop('relationships'), 'The document describes nothing')):
            with self.subTest(finding):
                self.check_finding(change, finding)

    def test_npm_packages_of_a_page(self):
        folder = self.folder / 'node_modules/@scope/part'
        folder.mkdir(parents=True)
        (folder / 'package.json').write_text('{"version": "2.0.0"}')
        loader = importlib.machinery.SourceFileLoader('sbom', str(ROOT / 'scripts/sbom'))
        module = types.ModuleType('sbom')
        module.__file__ = loader.path
        loader.exec_module(module)
        self.assertEqual(module.npm_packages([f'{folder}/index.js', f'{ROOT}/web/src/main.ts']), {'@scope/part': '2.0.0'})

    def test_without_a_time(self):
        done = subprocess.run([sys.executable, ROOT / 'scripts/sbom', 'write', '--version', '1', '--artefact', 'x=', '-o', 'y'],
                              env={name: value for name, value in os.environ.items() if name != 'SOURCE_DATE_EPOCH'},
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('SOURCE_DATE_EPOCH is not set', done.stderr)


if __name__ == '__main__':
    unittest.main()
