// The program that the generated capture executes.

/** Numbers that look random and are the same in each run. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const usual = [
  'main', 'run_server', 'handle_request', 'parse_header', 'find_route', 'json::Writer::object(std::string_view)',
  'sort<int>', 'partition<int>', 'std::vector<Request>::push_back(Request&&)', 'memcpy', 'malloc', 'free',
  'checksum', 'write_reply', 'poll_events', 'encode_block', 'quantise', 'dct8', 'huffman', 'lock', 'unlock',
  'schedule', 'irq_handler', 'timer_tick', 'copy_from_user', 'vfs_read',
];

const hostile = [
  '<script>alert(1)</script>', '"><img src=x onerror=alert(2)>', 'right\u202eto left\u202c end',
  'control\u0000\u0007\u001b[31mred', 'long_' + 'x'.repeat(1 << 20), '\ud800 lone surrogate', 'new\nline\ttab',
  '&lt;entity&gt;', '${template}', '‮‮‮', 'zero\u200bwidth', '漢字関数', 'مرحبا',
];

const mnemonics = [
  'ldr x0, [x1, #8]', 'add x0, x0, #1', 'cmp x0, x2', 'str w3, [sp, #16]', 'mov x4, x0', 'madd x1, x2, x3, x4',
  'ldp x29, x30, [sp], #32', 'and w0, w0, #0xff', 'lsl x5, x5, #3', 'subs x6, x6, #1',
];

export function makeProgram(options) {
  const next = random(7);
  const names = usual.map((name, i) => (options.hostile && hostile[i] ? hostile[i] : name));
  const functions = names.map((name, number) => {
    const address = 0x400000 + number * 0x400;
    const length = 12 + Math.floor(next() * 30);
    const instructions = [];
    for (let i = 0; i < length; i++) {
      const branch = i === length - 1 ? 'ret' : i % 7 === 5 ? `b.ne 0x${(address + 4 * (i - 3)).toString(16)}` : '';
      instructions.push({
        address: address + 4 * i,
        text: branch || mnemonics[Math.floor(next() * mnemonics.length)],
        bytes: Math.floor(next() * 2 ** 32).toString(16).padStart(8, '0'),
        line: 10 + Math.floor(i / 3),
        conditional: branch.startsWith('b.'),
      });
    }
    const kernel = number >= 21;
    const program = kernel ? '/boot/vmlinux' : number === 9 ? '/lib/aarch64-linux-gnu/libc.so.6' : '/usr/bin/server';
    const kind = options.symbols === false ? 'address' : name === 'irq_handler' ? 'exception' : 'function';
    return {
      number,
      name: options.symbols === false ? `0x${address.toString(16)}` : name,
      program,
      kind,
      file: options.hostile && number < 3 ? `/src/<b>${number}</b>.c` : `/src/${kernel ? 'kernel' : 'server'}/file${number}.c`,
      instructions,
    };
  });
  return functions;
}
