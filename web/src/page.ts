// The page around the timeline: its bar, panes, splitters, banners and keys.
import { App } from './app';
import { count } from './axis';
import { CodePane, steps } from './code_pane';
import { button, clear, debounced, h, name } from './dom';
import { FindPane } from './find_pane';
import { FlamePane } from './flame_pane';
import { FunctionsPane } from './functions_pane';
import { CoveragePane } from './coverage_pane';
import { ComparePane, HealthPane } from './health_pane';
import { Help } from './help';
import { PaneName, paneNames, themes } from './links';
import { visible } from './names';
import { bytesText, Summary } from './summary';
import { Timeline } from './timeline';
import { select, setMarker } from './timeline_input';
import { widthOf } from './axis';

const paneWords: Record<PaneName, string> = {
  functions: 'Functions',
  flame: 'Flame graph',
  find: 'Find',
  health: 'Health',
  coverage: 'Coverage',
  compare: 'Compare',
};

const themeWords = { auto: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' };

export class Page {
  readonly timeline: Timeline;
  readonly code: CodePane;
  private readonly find: FindPane;
  private readonly help = new Help();
  private readonly title: HTMLElement;
  private readonly facts: HTMLElement;
  private readonly progress: HTMLProgressElement;
  private readonly progressText: HTMLElement;
  private readonly banner: HTMLElement;
  private readonly notices: HTMLElement;
  private readonly theme: HTMLButtonElement;
  private readonly tabs = new Map<PaneName, HTMLButtonElement>();
  private readonly panels = new Map<PaneName, HTMLElement>();

  constructor(private readonly app: App) {
    this.timeline = new Timeline(app);
    this.find = new FindPane(app);
    this.code = new CodePane(app);
    this.title = h('h1', { class: 'capture-name', text: 'Waymark' });
    this.facts = h('p', { class: 'facts' });
    this.progress = h('progress', { attrs: { 'aria-label': 'Reading the capture', hidden: true } });
    this.progressText = h('span', { class: 'progress-text' });
    this.banner = h('div', { class: 'banner', attrs: { role: 'alert', hidden: true } });
    this.notices = h('div', {
      class: 'notices',
      attrs: { role: 'region', 'aria-label': 'Notices', hidden: true },
    });
    this.theme = button('', () => this.nextTheme(), { title: 'Light or dark (t)' });
    document.body.replaceChildren(...this.parts());
    app.on(['view', 'theme'], () => this.update());
    app.on(['capture', 'tracks'], () => this.showCapture());
    app.on('failure', () => this.showFailure());
    this.update();
    document.addEventListener('keydown', (event) => this.key(event));
  }

  private parts(): HTMLElement[] {
    const { app } = this;
    const header = h(
      'header',
      { class: 'top' },
      h('div', { class: 'title' }, this.title, this.facts),
      this.progress,
      this.progressText,
      h(
        'div',
        { class: 'top-buttons' },
        button('−', () => this.timeline.zoom(1.6), { name: 'Zoom out', title: 'Zoom out (s)' }),
        button('+', () => this.timeline.zoom(1 / 1.6), { name: 'Zoom in', title: 'Zoom in (w)' }),
        button('Whole', () => this.whole(), { title: 'Show the whole capture (0)', name: 'Show the whole capture' }),
        this.theme,
        button('Keys', () => this.help.toggle(), { title: 'All keys (?)' }),
      ),
    );
    const right = h('section', { class: 'pane right-pane', attrs: { 'aria-label': 'Panes' } }, this.tabBar(), ...this.tabPanels());
    const bottom = h('div', { class: 'bottom' }, this.code.element, this.splitter('vertical', 'Width of the code'), right);
    const main = h('main', { class: 'main' }, this.timeline.element, this.splitter('horizontal', 'Height of the timeline'), bottom);
    return [header, this.banner, this.notices, main, new Summary(app).element, this.help.element];
  }

  // Panes ---------------------------------------------------------------------------------------

  private tabBar(): HTMLElement {
    const bar = h('div', { class: 'tabs', attrs: { role: 'tablist', 'aria-label': 'Panes' } });
    for (const pane of this.shownPanes()) {
      const tab = button(paneWords[pane], () => this.app.set({ pane }), { class: 'tab' });
      tab.id = `tab-${pane}`;
      tab.setAttribute('role', 'tab');
      tab.setAttribute('aria-controls', `pane-${pane}`);
      this.tabs.set(pane, tab);
      bar.append(tab);
    }
    bar.addEventListener('keydown', (event) => {
      const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (!step) return;
      const panes = this.shownPanes();
      const next = panes[(panes.indexOf(this.app.view.pane) + step + panes.length) % panes.length];
      if (!next) return;
      this.app.set({ pane: next });
      this.tabs.get(next)?.focus();
      event.preventDefault();
      event.stopPropagation();
    });
    return bar;
  }

  private shownPanes(): PaneName[] {
    const { compare, coverage } = this.app;
    const only: Partial<Record<PaneName, unknown>> = { compare, coverage };
    return paneNames.filter((pane) => !(pane in only) || only[pane] !== undefined);
  }

  private tabPanels(): HTMLElement[] {
    const { app } = this;
    const contents: Record<PaneName, () => HTMLElement> = {
      functions: () => new FunctionsPane(app).element,
      flame: () => new FlamePane(app).element,
      find: () => this.find.element,
      health: () => new HealthPane(app).element,
      coverage: () => new CoveragePane(app).element,
      compare: () => new ComparePane(app).element,
    };
    return this.shownPanes().map((pane) => {
      const panel = h(
        'div',
        { class: 'tab-panel', id: `pane-${pane}`, attrs: { role: 'tabpanel', 'aria-labelledby': `tab-${pane}` } },
        contents[pane](),
      );
      this.panels.set(pane, panel);
      return panel;
    });
  }

  private splitter(direction: 'horizontal' | 'vertical', label: string): HTMLElement {
    const across = direction === 'horizontal';
    const property = across ? '--timeline-share' : '--code-share';
    let share = across ? 52 : 53;
    const element = h('div', {
      class: `splitter ${direction}`,
      attrs: {
        role: 'separator',
        tabindex: 0,
        'aria-label': label,
        'aria-orientation': direction,
        'aria-valuemin': 15,
        'aria-valuemax': 85,
        'aria-valuenow': share,
      },
    });
    const put = (value: number): void => {
      share = Math.round(Math.min(85, Math.max(15, value)) * 10) / 10;
      element.parentElement?.style.setProperty(property, `${share}%`);
      element.setAttribute('aria-valuenow', String(Math.round(share)));
    };
    element.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      element.focus();
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener('pointermove', (event) => {
      const outer = element.parentElement?.getBoundingClientRect();
      if (!outer || !element.hasPointerCapture(event.pointerId)) return;
      put(
        across
          ? ((event.clientY - outer.top) / outer.height) * 100
          : ((event.clientX - outer.left) / outer.width) * 100,
      );
    });
    element.addEventListener('keydown', (event) => {
      const less = across ? 'ArrowUp' : 'ArrowLeft';
      const more = across ? 'ArrowDown' : 'ArrowRight';
      if (event.key !== less && event.key !== more) return;
      put(share + (event.key === more ? 3 : -3));
      event.preventDefault();
      event.stopPropagation();
    });
    return element;
  }

  private shown = '';
  private update(): void {
    const { app } = this;
    const { theme } = app.view;
    const pane = this.tabs.has(app.view.pane) ? app.view.pane : 'functions';
    const key = `${theme} ${app.theme} ${pane}`;
    if (key === this.shown) return;
    this.shown = key;
    document.documentElement.dataset['theme'] = app.theme;
    this.theme.textContent = themeWords[theme];
    for (const [entry, tab] of this.tabs) {
      const chosen = entry === pane;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      const panel = this.panels.get(entry);
      if (panel) panel.hidden = !chosen;
    }
  }

  private nextTheme(): void {
    const next = themes[(themes.indexOf(this.app.view.theme) + 1) % themes.length];
    if (next) this.app.set({ theme: next });
  }

  // Facts, progress, failures -------------------------------------------------------------------

  private showCapture(): void {
    const { capture } = this.app;
    if (!capture) return;
    const text = visible(capture.name, 200) || 'Waymark';
    this.title.replaceChildren(name(text));
    this.title.title = visible(capture.path, 1000);
    document.title = `${text} – Waymark`;
    const sources = capture.sources.length;
    const instructions = capture.sources.reduce((sum, source) => sum + source.instructions, 0);
    const words = [
      visible(capture.kind, 40),
      bytesText(capture.bytes),
      `${count(sources)} ${sources === 1 ? 'source' : 'sources'}`,
      instructions ? `${count(instructions)} instructions` : '',
      this.app.source.kind === 'report' ? 'report' : '',
    ];
    this.facts.textContent = words.filter(Boolean).join(' · ');
    const { done, total, complete } = capture.progress;
    const failure = this.app.readingFailure;
    this.progress.hidden = this.app.ended;
    this.progress.max = Math.max(total, 1);
    this.progress.value = done;
    const share = total ? Math.floor((done / total) * 100) : 0;
    const reading = failure ? `Reading ended at ${share} %.` : `Reading: ${share} %. The part read so far is shown.`;
    const progress = complete ? '' : reading;
    if (this.progressText.textContent !== progress) this.progressText.textContent = progress;
    this.showNotices();
  }

  /** What the capture lacks, with the remedy; what a report holds. */
  private noticeKey = '';
  private dismissed = false;
  private showNotices(): void {
    const { capture, source } = this.app;
    if (!capture || this.dismissed) return;
    const notices: string[] = [];
    const executes = capture.sources.some((entry) => entry.executes);
    const instructions = capture.sources.reduce((sum, source) => sum + source.instructions, 0);
    if (executes && capture.progress.complete && !instructions && this.app.tracks.length) {
      notices.push(
        'No instruction is known. If the code of the program is missing, name its file with the option --elf and open the capture again. The Health pane says what looks wrong.',
      );
    } else if (executes && !capture.has.symbols) {
      notices.push(
        'Functions have no names, because no program with symbols was found. Name one with the option --symbols and open the capture again.',
      );
    }
    if (!executes && capture.progress.complete && this.app.tracks.length) {
      notices.push('No source of this capture traces instructions: there are messages and events only.');
    }
    const failure = this.app.readingFailure;
    if (failure) notices.push(`The capture could not be read to its end. ${failure}`);
    const windows = source.windows();
    const key = `${notices.join()} ${windows?.length}`;
    if (key === this.noticeKey) return;
    this.noticeKey = key;
    clear(this.notices);
    for (const notice of notices) this.notices.append(h('p', { text: notice }));
    if (windows) this.notices.append(this.reportNotice(windows));
    this.notices.hidden = !this.notices.childElementCount;
    if (!this.notices.hidden) {
      this.notices.append(
        button('Dismiss', () => {
          this.dismissed = true;
          this.notices.hidden = true;
        }, { name: 'Dismiss these notices' }),
      );
    }
  }

  private reportNotice(windows: { from: number; to: number }[]): HTMLElement {
    const line = h('p', {
      text: windows.length
        ? 'This report holds an overview of the capture, and the details of: '
        : 'This report holds an overview of the capture, without details.',
    });
    windows.slice(0, 12).forEach((window, i) => {
      line.append(button(`window ${i + 1}`, () => this.app.show(window), { class: 'link' }), ' ');
    });
    return line;
  }

  private showFailure(): void {
    const { failure } = this.app;
    this.banner.hidden = !failure;
    if (!failure) return;
    this.banner.replaceChildren(
      h('span', { text: '✖ ', attrs: { 'aria-hidden': true } }),
      h('span', { text: failure.message }),
      button('Try again', () => {
        this.app.retry();
        this.timeline.retry();
      }),
    );
    this.timeline.queue();
  }

  // Keys ----------------------------------------------------------------------------------------

  private whole(): void {
    this.app.set({ window: null });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const target = event.target as HTMLElement;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (this.help.element.open && event.key !== '?') return;
    if (this.pageKey(event) || this.stepKey(event) || this.timelineKey(event, target)) {
      event.preventDefault();
    }
  }

  private stepKey(event: KeyboardEvent): boolean {
    const step = steps.find((entry) => entry.key === event.key.toLowerCase());
    if (!step) return false;
    void this.app.step(step.by, event.shiftKey ? 'back' : 'forward');
    return true;
  }

  private pageKey(event: KeyboardEvent): boolean {
    switch (event.key) {
      case '?':
        this.help.toggle();
        return true;
      case '/':
      case 'f':
        this.app.set({ pane: 'find' });
        this.find.input.focus();
        this.find.input.select();
        return true;
      case '.':
        this.find.move(1);
        return true;
      case ',':
        this.find.move(-1);
        return true;
      case 't':
        this.nextTheme();
        return true;
      case 'Escape':
        this.app.set({ selection: null });
        return true;
      default:
        return false;
    }
  }

  private timelineKey(event: KeyboardEvent, target: HTMLElement): boolean {
    const { timeline, app } = this;
    const letters = this.windowKey(event.key.toLowerCase(), event.shiftKey);
    if (letters) return true;
    // These keys also have a meaning in lists, buttons and tabs.
    if (target !== timeline.canvas && target !== document.body) return false;
    const length = app.axis.length;
    const width = widthOf(app.window);
    switch (event.key) {
      case 'ArrowLeft':
      case 'ArrowRight': {
        const amount = event.shiftKey ? 1 : 0.15;
        timeline.pan((event.key === 'ArrowLeft' ? -amount : amount) * timeline.pixels);
        return true;
      }
      case 'Home':
        app.show({ from: 0, to: width });
        return true;
      case 'End':
        app.show({ from: length - width, to: length });
        return true;
      case 'ArrowUp':
      case 'ArrowDown':
        this.moveTrack(event.key === 'ArrowUp' ? -1 : 1);
        return true;
      case 'PageUp':
      case 'PageDown':
        timeline.scroller.scrollBy({ top: (event.key === 'PageUp' ? -0.8 : 0.8) * timeline.scroller.clientHeight });
        return true;
      case 'Enter':
        if (target !== timeline.canvas) return false;
        void app.goTo({ track: timeline.focused, t: (app.window.from + app.window.to) / 2 });
        return true;
      default:
        return false;
    }
  }

  private windowKey(key: string, far: boolean): boolean {
    const { timeline, app } = this;
    const by = timeline.pixels * (far ? 1 : 0.15);
    const about = timeline.pointer ?? undefined;
    const { selection, markers, cursor } = app.view;
    const place = timeline.pointer ?? cursor?.t ?? (app.window.from + app.window.to) / 2;
    const actions: Record<string, () => void> = {
      w: () => timeline.zoom(0.7, about),
      '+': () => timeline.zoom(0.7, about),
      '=': () => timeline.zoom(0.7, about),
      s: () => timeline.zoom(1 / 0.7, about),
      '-': () => timeline.zoom(1 / 0.7, about),
      a: () => timeline.pan(-by),
      d: () => timeline.pan(by),
      0: () => this.whole(),
      1: () => setMarker(timeline, 0, place),
      2: () => setMarker(timeline, 1, place),
      c: () => cursor && app.reveal(cursor.t),
      x: () => select(timeline, app.window.from, app.window.to),
      z: () => {
        const [a, b] = markers;
        if (selection) app.show(selection);
        else if (a !== null && b !== null && a !== b) app.show({ from: Math.min(a, b), to: Math.max(a, b) });
      },
    };
    const action = actions[key];
    action?.();
    return action !== undefined;
  }

  private moveTrack(by: number): void {
    const { timeline } = this;
    const boxes = timeline.boxes();
    const index = boxes.findIndex((box) => box.track.number === timeline.focused);
    const box = boxes[Math.min(Math.max(index + by, 0), boxes.length - 1)];
    if (!box) return;
    timeline.focused = box.track.number;
    const { scrollTop, clientHeight } = timeline.scroller;
    if (box.top < scrollTop) timeline.scroller.scrollTop = box.top;
    else if (box.top + box.height > scrollTop + clientHeight) {
      timeline.scroller.scrollTop = box.top + box.height - clientHeight;
    }
    this.describeTrack(visible(box.track.name, 200));
    timeline.queue();
  }

  private describedTrack = '';
  private readonly announceLater = debounced(() => {
    this.timeline.canvas.setAttribute('aria-label', `Timeline, track ${this.describedTrack}`);
  }, 60);

  private describeTrack(text: string): void {
    this.describedTrack = text;
    this.announceLater();
  }
}
