// Pointer, wheel and keys of the timeline.
import { widthOf, Window } from './axis';
import type { Timeline } from './timeline';

const dragThreshold = 4;

type Mode = 'none' | 'pan' | 'select' | 'marker';

export function drive(timeline: Timeline): void {
  driveWheel(timeline);
  driveTracks(timeline);
  driveRuler(timeline);
  driveMap(timeline);
}

function xIn(element: HTMLElement, event: MouseEvent): number {
  return event.clientX - element.getBoundingClientRect().left;
}

function yIn(element: HTMLElement, event: MouseEvent): number {
  return event.clientY - element.getBoundingClientRect().top;
}

/** The wheel zooms about the pointer; with shift, or sideways, it moves. */
function driveWheel(timeline: Timeline): void {
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const amount = (sideways && event.deltaX ? event.deltaX : event.deltaY) * lines;
    if (sideways) timeline.pan(amount);
    else {
      const about = timeline.tAt(xIn(timeline.canvas, event));
      timeline.zoom(2 ** (Math.max(-400, Math.min(400, amount)) / 240), about);
    }
  };
  for (const canvas of [timeline.canvas, timeline.rulerCanvas]) {
    canvas.addEventListener('wheel', wheel, { passive: false });
  }
}

function driveTracks(timeline: Timeline): void {
  const { canvas, app, scroller } = timeline;
  let mode: Mode = 'none';
  let startX = 0;
  let startY = 0;
  let startScroll = 0;
  let startWindow: Window = { from: 0, to: 1 };
  let down = false;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    down = true;
    mode = 'none';
    startX = xIn(canvas, event);
    startY = yIn(canvas, event);
    startScroll = scroller.scrollTop;
    startWindow = app.window;
    timeline.showTooltip(null, 0, 0);
  });
  canvas.addEventListener('pointermove', (event) => {
    const x = xIn(canvas, event);
    const y = yIn(canvas, event);
    timeline.pointer = timeline.tAt(x);
    if (!down) {
      timeline.showTooltip(timeline.hoverAt(x, y), event.clientX, event.clientY);
      return;
    }
    if (mode === 'none' && Math.hypot(x - startX, y - startY) > dragThreshold) {
      mode = event.shiftKey ? 'select' : 'pan';
      timeline.dragging = mode === 'pan';
      canvas.classList.toggle('panning', mode === 'pan');
    }
    if (mode === 'select') select(timeline, timeline.tAt(startX), timeline.tAt(x));
    if (mode === 'pan') {
      const by = ((startX - x) / timeline.pixels) * widthOf(startWindow);
      app.show({ from: startWindow.from + by, to: startWindow.to + by });
      scroller.scrollTop = startScroll + startY - y;
    }
  });
  const end = (event: PointerEvent): void => {
    if (!down) return;
    down = false;
    timeline.dragging = false;
    canvas.classList.remove('panning');
    timeline.queue();
    if (mode !== 'none' || event.type !== 'pointerup') return;
    const hover = timeline.hoverAt(startX, startY);
    if (!hover.box) return;
    timeline.focused = hover.box.track.number;
    void app.goTo({ track: hover.box.track.number, t: hover.t });
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  canvas.addEventListener('pointerleave', () => {
    timeline.pointer = null;
    timeline.showTooltip(null, 0, 0);
  });
  canvas.addEventListener('dblclick', (event) => {
    const hover = timeline.hoverAt(xIn(canvas, event), yIn(canvas, event));
    if (!hover.span) return;
    const [from, to] = hover.span;
    const margin = (to - from) * 0.05;
    app.show({ from: from - margin, to: to + margin });
  });
  canvas.addEventListener('focus', () => timeline.queue());
  canvas.addEventListener('blur', () => timeline.queue());
}

export function select(timeline: Timeline, a: number, b: number): void {
  const length = timeline.app.axis.length;
  const inside = (t: number): number => Math.min(Math.max(t, 0), length);
  const from = inside(Math.min(a, b));
  const to = inside(Math.max(a, b));
  timeline.app.set({ selection: to > from ? { from, to } : null });
}

/** Dragging on the ruler selects; a click ends the selection; markers can be dragged. */
function driveRuler(timeline: Timeline): void {
  const canvas = timeline.rulerCanvas;
  let start: number | null = null;
  let marker: 0 | 1 | null = null;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const x = xIn(canvas, event);
    const near = ([0, 1] as const).find((i) => {
      const t = timeline.app.view.markers[i];
      return t !== null && x >= timeline.xOf(t) - 4 && x <= timeline.xOf(t) + 16;
    });
    marker = near ?? null;
    start = timeline.tAt(x);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (start === null) return;
    const t = timeline.tAt(xIn(canvas, event));
    if (marker !== null) setMarker(timeline, marker, t);
    else select(timeline, start, t);
  });
  const end = (event: PointerEvent): void => {
    if (start === null) return;
    const moved = Math.abs(timeline.xOf(start) - xIn(canvas, event)) > dragThreshold;
    if (!moved && marker === null) timeline.app.set({ selection: null });
    start = null;
    marker = null;
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
}

export function setMarker(timeline: Timeline, which: 0 | 1, t: number | null): void {
  const markers: [number | null, number | null] = [...timeline.app.view.markers];
  markers[which] = t === null ? null : Math.min(Math.max(t, 0), timeline.app.axis.length);
  timeline.app.set({ markers });
}

function driveMap(timeline: Timeline): void {
  const canvas = timeline.mapCanvas;
  let offset: number | null = null;
  const tAt = (event: MouseEvent): number =>
    (xIn(canvas, event) / Math.max(1, canvas.clientWidth)) * timeline.app.axis.length;
  const move = (event: MouseEvent): void => {
    if (offset === null) return;
    const width = widthOf(timeline.app.window);
    const from = tAt(event) - offset;
    timeline.app.show({ from, to: from + width });
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const window = timeline.app.window;
    const t = tAt(event);
    offset = t >= window.from && t <= window.to ? t - window.from : widthOf(window) / 2;
    move(event);
  });
  canvas.addEventListener('pointermove', move);
  const end = (): void => {
    offset = null;
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      timeline.zoom(2 ** (Math.sign(event.deltaY) * 0.4));
    },
    { passive: false },
  );
}
