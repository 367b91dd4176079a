import test from 'node:test';
import assert from 'node:assert/strict';
import { linkOf, plainView, View, viewFromLink } from '../../src/links';

test('a_link_holds_the_whole_view', () => {
  const view: View = {
    window: { from: 1.25, to: 99999.5 },
    cursor: { track: 3, t: 17.125, source: 16, n: 1234567 },
    selection: { from: 2, to: 3 },
    markers: [4.5, null],
    pane: 'flame',
    code: 'executed',
    func: 'operator<< (a, b) & "c"',
    find: { what: 'line', text: 'a:b#c&d=1%.c:42' },
    theme: 'dark',
    full: [1, 2],
    folded: [7],
  };
  assert.deepEqual(viewFromLink(linkOf(view)), view);
  assert.deepEqual(viewFromLink(linkOf({ ...view, markers: [null, 8] })).markers, [null, 8]);
  assert.deepEqual(viewFromLink(linkOf({ ...view, cursor: { track: 1, t: 5 } })).cursor, { track: 1, t: 5 });
});

test('the_plain_view_needs_no_link', () => {
  assert.equal(linkOf(plainView), '');
  assert.deepEqual(viewFromLink(''), plainView);
});

test('damaged_links_give_a_valid_view', () => {
  for (const hash of ['#w=1', '#w=5,1', '#w=a,b', '#w=NaN,Infinity', '#c=1@', '#c=@@@', '#p=<script>', '#find=nothing:x', '#theme=red', '#m=x,y', '#full=1,b', '#%E0%A4%A', '#&&&==']) {
    assert.deepEqual(viewFromLink(hash), plainView, hash);
  }
});
