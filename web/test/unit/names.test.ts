import test from 'node:test';
import assert from 'node:assert/strict';
import { fileName, FunctionNames, visible } from '../../src/names';

test('control_and_direction_characters_are_visible', () => {
  assert.equal(visible('a\u202eb'), 'a⟨U+202E⟩b');
  assert.equal(visible('\u0000\u001b[31m'), '⟨U+0000⟩⟨U+001B⟩[31m');
  assert.equal(visible('\u2066x\u2069'), '⟨U+2066⟩x⟨U+2069⟩');
  assert.equal(visible('\ud800'), '⟨U+D800⟩');
  assert.equal(visible('😀 漢字 مرحبا'), '😀 漢字 مرحبا');
});

test('long_text_is_cut', () => {
  assert.equal(visible('x'.repeat(1 << 20), 10), 'x'.repeat(10) + '…');
  assert.ok(visible('x'.repeat(1 << 20)).length <= 4097);
});

test('what_is_not_text_is_nothing', () => {
  for (const value of [undefined, null, 7, {}, []]) assert.equal(visible(value), '');
});

test('functions_keep_their_first_name', () => {
  const names = new FunctionNames();
  names.add([[1, 'main', '/bin/a', 'function'], [2, '', '', 'unknown']]);
  names.add([[1, 'other', '', 'function']]);
  names.add(undefined);
  assert.equal(names.get(1).name, 'main');
  assert.equal(names.get(2).name, '(no name)');
  assert.equal(names.get(99).name, '(not known)');
  assert.equal(names.numberOf('main'), 1);
  assert.equal(names.numberOf('nothing'), undefined);
});

test('file_names', () => {
  assert.equal(fileName('/a/b.c'), 'b.c');
  assert.equal(fileName('b.c'), 'b.c');
  assert.equal(fileName('/a/'), '/a/');
});
