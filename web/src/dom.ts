// Elements of the page. Text only ever becomes text: nothing here parses HTML.

type Child = Node | string | null | undefined | false;

interface Props {
  class?: string;
  text?: string;
  title?: string;
  id?: string;
  attrs?: Record<string, string | number | boolean>;
  on?: Record<string, (event: Event) => void>;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (props.class) element.className = props.class;
  if (props.id) element.id = props.id;
  if (props.title) element.title = props.title;
  if (props.text !== undefined) element.textContent = props.text;
  for (const [name, value] of Object.entries(props.attrs ?? {})) {
    element.setAttribute(name, String(value));
  }
  for (const [name, listener] of Object.entries(props.on ?? {})) {
    element.addEventListener(name, listener);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A name from the capture: its direction does not affect what is next to it. */
export const name = (text: string, className = ''): HTMLElement =>
  h('bdi', { class: className, text });

export function button(
  label: string,
  action: () => void,
  options: { title?: string; class?: string; name?: string } = {},
): HTMLButtonElement {
  const element = h('button', { text: label, on: { click: action } });
  element.type = 'button';
  if (options.title) element.title = options.title;
  if (options.class) element.className = options.class;
  if (options.name) element.setAttribute('aria-label', options.name);
  return element;
}

/** Calls once, after there was no further call for a while. */
export function debounced(action: () => void, milliseconds: number): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(action, milliseconds);
  };
}

export function clear(element: Element): void {
  element.replaceChildren();
}

/** An empty or failed state of a pane: what is missing, and what to do. */
export function emptyState(title: string, text = '', ...more: Child[]): HTMLElement {
  return h(
    'div',
    { class: 'empty' },
    h('p', { class: 'empty-title', text: title }),
    text ? h('p', { text }) : null,
    ...more,
  );
}

export interface VirtualRow {
  fill(row: HTMLElement, index: number): void;
}

/** A list that has elements only for the rows that are visible. All rows have one height. */
export class VirtualList {
  readonly element: HTMLElement;
  private readonly inner: HTMLElement;
  private rows: HTMLElement[] = [];
  private length = 0;
  private fill: (row: HTMLElement, index: number) => void = () => undefined;
  private queued = false;

  constructor(
    label: string,
    private readonly rowHeight: number,
    className = '',
  ) {
    this.inner = h('div', { class: 'virtual-inner', attrs: { role: 'presentation' } });
    this.element = h(
      'div',
      {
        class: 'virtual ' + className,
        attrs: { role: 'list', 'aria-label': label, tabindex: 0 },
        on: { scroll: () => this.queue() },
      },
      this.inner,
    );
    new ResizeObserver(() => this.queue()).observe(this.element);
  }

  show(length: number, fill: (row: HTMLElement, index: number) => void): void {
    this.length = length;
    this.fill = fill;
    this.inner.style.height = `${length * this.rowHeight}px`;
    for (const row of this.rows) row.dataset['index'] = '';
    this.render();
  }

  /** Fills the visible rows again. */
  refresh(): void {
    for (const row of this.rows) row.dataset['index'] = '';
    this.render();
  }

  /** Scrolls so that a row is visible, with a margin if it was not. */
  reveal(index: number): void {
    const top = index * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    const margin = Math.min(4 * this.rowHeight, clientHeight / 3);
    if (top < scrollTop + this.rowHeight || top + 2 * this.rowHeight > scrollTop + clientHeight) {
      const below = top > scrollTop;
      this.element.scrollTop = below ? top - clientHeight + margin + this.rowHeight : top - margin;
    }
    this.queue();
  }

  private queue(): void {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.render();
    });
  }

  private render(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / this.rowHeight) - 2);
    const last = Math.min(this.length, Math.ceil((scrollTop + clientHeight) / this.rowHeight) + 2);
    const wanted = Math.max(0, last - first);
    while (this.rows.length < wanted) {
      const row = h('div', { class: 'virtual-row', attrs: { role: 'listitem' } });
      this.rows.push(row);
      this.inner.append(row);
    }
    while (this.rows.length > wanted) this.rows.pop()?.remove();
    for (let i = 0; i < wanted; i++) {
      const index = first + i;
      // A row keeps its index while it is visible, so that scrolling fills only new ones.
      const row = this.rows[index % wanted];
      if (!row || row.dataset['index'] === String(index)) continue;
      row.dataset['index'] = String(index);
      row.style.transform = `translateY(${index * this.rowHeight}px)`;
      row.setAttribute('aria-posinset', String(index + 1));
      row.setAttribute('aria-setsize', String(this.length));
      row.className = 'virtual-row';
      this.fill(row, index);
    }
  }
}
