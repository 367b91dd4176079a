// Windows of the axis, and how its values are written.
import type { Axis, Unit } from './api';

export interface Window {
  from: number;
  to: number;
}

export const widthOf = (window: Window): number => window.to - window.from;

/** The narrowest window: a double has fractions of 2^-52 of the axis, and a pixel needs some. */
export function narrowest(axis: Axis): number {
  const least = axis.unit === 'instructions' || axis.unit === 'bytes' ? 4 : 1e-3;
  return Math.max(least, axis.length * 2 ** -38);
}

/** The window moved and resized so that it is inside the axis and not too narrow. */
export function inside(window: Window, axis: Axis): Window {
  const whole = Math.max(axis.length, narrowest(axis));
  let { from, to } = window;
  if (!Number.isFinite(from) || !Number.isFinite(to)) return { from: 0, to: whole };
  if (to < from) [from, to] = [to, from];
  let width = Math.min(Math.max(to - from, narrowest(axis)), whole);
  const middle = (from + to) / 2;
  if (width !== to - from) from = middle - width / 2;
  from = Math.min(Math.max(from, 0), whole - width);
  return { from, to: from + width };
}

export function zoomed(window: Window, factor: number, about: number, axis: Axis): Window {
  const width = Math.min(
    Math.max(widthOf(window) * factor, narrowest(axis)),
    Math.max(axis.length, narrowest(axis)),
  );
  const share = widthOf(window) > 0 ? (about - window.from) / widthOf(window) : 0.5;
  const from = about - share * width;
  return inside({ from, to: from + width }, axis);
}

export function moved(window: Window, by: number, axis: Axis): Window {
  return inside({ from: window.from + by, to: window.to + by }, axis);
}

/** The least step of the form 1, 2 or 5 times a power of ten that is at least `least`. */
export function niceStep(least: number): number {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

export interface Ruler {
  /** The axis value that labels are relative to; 0: none. */
  base: number;
  /** Empty, or how the base is written. */
  baseText: string;
  ticks: { t: number; text: string; major: boolean }[];
}

function decimalsOf(step: number): number {
  return Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
}

/** Digits in groups of three, with narrow spaces. */
export function grouped(text: string): string {
  const [whole = '', part] = text.split('.');
  const sign = whole.startsWith('-') ? '−' : '';
  const digits = whole.replace('-', '').replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return sign + digits + (part === undefined ? '' : '.' + part);
}

export const count = (value: number): string => grouped(Math.round(value).toString());

/** A share of 1 in percent. The space does not break a line. */
export const percent = (share: number, decimals = 0): string => `${(share * 100).toFixed(decimals)}\u202f%`;

/** A number in few characters: 1.2 k, 34 M. */
export function short(value: number): string {
  const size = Math.abs(value);
  for (const [limit, letter] of [
    [1e12, 'T'],
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (size >= limit) return trimmed(value / limit, size / limit < 10 ? 1 : 0) + '\u202f' + letter;
  }
  return trimmed(value, size < 10 ? 2 : size < 100 ? 1 : 0);
}

function trimmed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const nanosecondUnits: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

/** One unit after a value, in short. */
export const shortUnit: Record<Unit, string> = {
  ticks: 'ticks',
  nanoseconds: 'ns',
  cycles: 'cycles',
  instructions: 'instructions',
  bytes: 'bytes',
};

function scaleOf(unit: Unit, size: number): [number, string] {
  if (unit !== 'nanoseconds') return [1, ''];
  for (const entry of nanosecondUnits) {
    if (size >= entry[0]) return entry;
  }
  return [1, 'ns'];
}

/** A place on the axis in a list of places. */
export const listedText = (t: number, axis: Axis): string =>
  placeText(t, axis.length / (axis.unit === 'nanoseconds' ? 1e6 : 1), axis.unit);

/** A length on the axis, with its unit. */
export function lengthText(length: number, unit: Unit): string {
  if (unit === 'nanoseconds') {
    const [scale, name] = scaleOf(unit, Math.abs(length));
    return `${trimmed(length / scale, decimalsFor(length / scale))} ${name}`;
  }
  const whole = Math.abs(length) >= 1000 || Number.isInteger(length);
  if (length === 1) return `1 ${oneUnit[unit]}`;
  return `${whole ? count(length) : trimmed(length, decimalsFor(length))} ${shortUnit[unit]}`;
}

const oneUnit: Record<Unit, string> = {
  ticks: 'tick',
  nanoseconds: 'ns',
  cycles: 'cycle',
  instructions: 'instruction',
  bytes: 'byte',
};

/** An amount per unit of the axis, or per more of them where it is small. */
export function rateText(rate: number, unit: Unit): string {
  if (unit === 'nanoseconds') {
    const [scale, name] = [...nanosecondUnits].reverse().find(([each]) => rate * each >= 0.95) ?? [1e9, 's'];
    return `${short(rate * scale)} per ${name}`;
  }
  if (rate >= 0.095) return `${short(rate)} per ${oneUnit[unit]}`;
  const many = 10 ** Math.ceil(-Math.log10(rate) - 1e-9);
  return Number.isFinite(many) ? `${short(rate * many)} per ${short(many)} ${shortUnit[unit]}` : '0';
}

function decimalsFor(value: number): number {
  const size = Math.abs(value);
  return size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 6;
}

/** A place on the axis, as precise as a window of this width needs. */
export function placeText(t: number, width: number, unit: Unit): string {
  const step = niceStep(Math.max(width, 1e-9) / 1000);
  if (unit === 'nanoseconds') {
    const [scale, name] = scaleOf(unit, Math.abs(t));
    return `${grouped((t / scale).toFixed(decimalsOf(step / scale)))} ${name}`;
  }
  return grouped(t.toFixed(decimalsOf(step)));
}

/** The raw value of the axis, origin included, as decimal text; whole units only. */
export function rawText(t: number, axis: Axis): string {
  try {
    return (BigInt(axis.origin) + BigInt(Math.floor(t))).toString();
  } catch {
    return count(t);
  }
}

/** The ticks of a window that is `pixels` wide. Labels need about `labelPixels` each. */
export function ruler(window: Window, pixels: number, unit: Unit, labelPixels = 90): Ruler {
  const width = widthOf(window);
  if (!(width > 0) || !(pixels > 0)) return { base: 0, baseText: '', ticks: [] };
  const step = niceStep((width / pixels) * labelPixels);
  const minor = niceStep(step / 10) < step / 5.5 ? step / 5 : step / 4;
  const [scale, name] = scaleOf(unit, unit === 'nanoseconds' ? Math.max(window.to, step) : step);
  const digits = Math.log10(Math.max(Math.abs(window.to), step) / step);
  const block = step * 1000;
  const base = digits > 6 ? Math.floor(window.from / block) * block : 0;
  const [tickScale, tickName] = base ? scaleOf(unit, step * 10) : [scale, name];
  const decimals = decimalsOf(step / tickScale);
  const ticks: Ruler['ticks'] = [];
  const first = Math.ceil((window.from - base) / minor - 1e-9);
  for (let i = first; ticks.length < 2000; i++) {
    const offset = i * minor;
    const t = base + offset;
    if (t > window.to) break;
    const steps = offset / step;
    const major = Math.abs(steps - Math.round(steps)) < 1e-6;
    const value = grouped((offset / tickScale).toFixed(decimals)) + (tickName ? ' ' + tickName : '');
    ticks.push({ t, text: major ? (base ? '+' + value : value) : '', major });
  }
  const baseText = base
    ? grouped((base / scale).toFixed(decimalsOf(block / scale))) + (name ? ' ' + name : '')
    : '';
  return { base, baseText, ticks };
}
