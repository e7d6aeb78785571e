// The email template: renders the content of an email as plain text and as HTML that works in mail programs, in light and dark
// mode, from left to right and from right to left. Pure. All texts are escaped. Callers make texts from outside inert first (base/visible-text.ts).
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { escaped } from '../base/html.ts';

export type Block =
  | { kind: 'text' | 'heading' | 'command'; text: string }
  /** Additional information, with a highlighted first sentence. */
  | { kind: 'note'; lead: string; text: string }
  /** The main action of the email, at an address of ours. `hint` introduces the address as text. */
  | { kind: 'button'; text: string; address: string; hint: string }
  | { kind: 'points'; points: string[] }
  /** What someone wrote, and about what. */
  | { kind: 'quote'; text: string; source: string }
  /** Rows with a name and numbers. */
  | { kind: 'figures'; head: string[]; rows: string[][] }
  /** Rows of text, with the longest text in the last column. `wide`: the width of each column in percent. */
  | { kind: 'table'; head: string[]; rows: string[][]; wide: number[] };

export type MailContent = {
  /** ISO 639-1. */
  language: string;
  /** The company name that is shown with the name of the service. */
  about: string;
  /**
   * The status in one word, coloured by `tone`; it must make sense without the colour. Without a label, the email appears as sent by
   * the company, with its name at the top.
   */
  label?: string;
  tone: keyof typeof tones;
  title: string;
  blocks: Block[];
  footer: (string | { text: string; address: string })[];
};

/** Renders an email as plain text and as HTML. */
export function renderMail(content: MailContent): { text: string; html: string } {
  return { text: asText(content), html: asHtml(content) };
}

function asText({ about, label, title, blocks, footer }: MailContent): string {
  const line = label === undefined ? '' : `\n${'='.repeat(Math.min([...title].length, 72))}`;
  const foot = footer.map((one) => (typeof one === 'string' ? one : `${one.text}:\n${one.address}`));
  const parts = [`${title}${line}`, ...blocks.map(blockAsText)];
  return `${[...parts, `-- \nSoundings · ${about}\n${foot.join('\n')}`].join('\n\n')}\n`;
}

function blockAsText(block: Block): string {
  switch (block.kind) {
    case 'text':
      return block.text;
    case 'heading':
      return `${block.text}\n${'-'.repeat(Math.min([...block.text].length, 72))}`;
    case 'command':
      return `    ${block.text}`;
    case 'note':
      return `${block.lead} ${block.text}`;
    case 'button':
      return `${block.text}:\n${block.address}`;
    case 'points':
      return block.points.map((point) => `* ${point}`).join('\n');
    case 'quote':
      return `> ${block.text}\n  (${block.source})`;
    case 'figures':
      return block.rows
        .map(
          ([name, ...numbers]) =>
            `${name}: ${numbers.map((one, i) => `${block.head[i + 1]} ${one}`).join(' · ')}`,
        )
        .join('\n');
    case 'table':
      return block.rows.map((row, i) => `${i + 1}. ${rowAsText(block.head, row)}`).join('\n\n');
  }
}

/** Returns a table row as text: the short cells in one line, and the long one below. */
function rowAsText(head: string[], row: string[]): string {
  const short = row.slice(0, -1).map((cell, i) => (cell === '' ? '' : `${head[i]}: ${cell}`));
  return [short.filter((cell) => cell !== '').join(' · '), row.at(-1)]
    .filter((line) => line !== '')
    .join('\n   ');
}

const fonts = "Inter,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const mono = "ui-monospace,SFMono-Regular,Consolas,'Liberation Mono',monospace";

/** The text and background colours of each tone: light text, light background, dark text, dark background. */
const tones = {
  good: ['#1c6b3f', '#e3f2e9', '#7fcf9f', '#12301f'],
  warn: ['#855300', '#fbefd9', '#e9b665', '#33250c'],
  bad: ['#a5321f', '#fbe7e3', '#f09a8b', '#3a1813'],
  plain: ['#0d5c6b', '#e2f0f2', '#55b6c6', '#12323a'],
} as const;

// All mail programs support tables, attributes and inline styles. Classes add dark mode and narrow screens where supported:
// p page, s sheet, i ink (text), f faint text, l line, w wash (background), t tone, b button, a address; o, n outer and inner
// spacing; d data table, e text table, h shown only on narrow screens.
function styleSheet(tone: keyof typeof tones): string {
  const [, , color, wash] = tones[tone];
  const rules = (styles: Record<string, string>) =>
    Object.entries(styles)
      .map(([name, style]) => `${name}{${style.replaceAll(/;|$/g, '!important$&')}}`)
      .join('');
  const narrow = {
    '.o': 'padding:0',
    '.n': 'padding-left:16px;padding-right:16px',
    '.s': 'border-radius:0;border-left:0;border-right:0',
    '.d td,.d th': 'padding-left:0;padding-right:4px',
    '.e th': 'display:none',
    '.e td': 'display:block;border-top:0;padding:0',
    '.e td:first-child': 'border-top:1px solid #e3e9e8;padding-top:12px;font-weight:600',
    '.e td:last-child': 'padding-bottom:12px',
    '.h': 'display:inline',
  };
  const dark = {
    '.p': 'background:#0a1417',
    '.s': 'background:#101e22;border-color:#21343a',
    '.i': 'color:#e4eeee',
    '.f': 'color:#9db1b6',
    '.l,.e td:first-child': 'border-color:#21343a',
    '.w': 'background:#12323a;color:#e4eeee',
    '.t': `background:${wash};color:${color}`,
    '.b': 'background:#55b6c6;color:#06222a',
    '.a': 'color:#55b6c6',
  };
  return (
    ':root{color-scheme:light dark;supported-color-schemes:light dark}' +
    `@media(max-width:520px){${rules(narrow)}}@media(prefers-color-scheme:dark){${rules(dark)}}`
  );
}

function asHtml({ language, about, label, tone, title, blocks, footer }: MailContent): string {
  const isRightToLeft = writingDirectionOf(language) === 'rtl';
  // Web mail drops the attributes of <html>, so the outer table has the direction as well.
  const direction = isRightToLeft ? ' dir="rtl"' : '';
  const sides: Sides = isRightToLeft ? { start: 'right', end: 'left' } : { start: 'left', end: 'right' };
  const [preview = title] = blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
  return [
    `<!doctype html><html lang="${escaped(language)}"${direction}><head><meta charset="utf-8">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">',
    '<meta name="supported-color-schemes" content="light dark"><meta name="format-detection" content="telephone=no,date=no,address=no,email=no">',
    `<title>${escaped(title)}</title>`,
    `<style>${styleSheet(tone)}</style></head>`,
    `<body class="p" style="margin:0;padding:0;background:#f1f4f3">`,
    `<div style="display:none;max-height:0;overflow:hidden">${escaped(preview)}</div>`,
    `<table role="presentation"${direction} class="p" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f1f4f3"><tr><td class="o" align="center" style="padding:24px 12px">`,
    `<table role="presentation" width="640" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:640px;font:15px/22px ${fonts};color:#10242a">`,
    `<tr><td class="n f" style="padding:12px 24px;font-size:13px;line-height:20px;color:#4b6067">${pageHeader(about, label)}</td></tr>`,
    `<tr><td class="s i n" bgcolor="#ffffff" style="padding:24px;background:#fff;border:1px solid #e3e9e8;border-radius:12px;color:#10242a">`,
    ...(label === undefined ? [] : [chip(label, tone)]),
    heading(title, label === undefined),
    ...blocks.map((block) => blockAsHtml(block, sides)),
    `</td></tr><tr><td class="n f" style="padding:16px 24px;font-size:13px;line-height:20px;color:#4b6067">${footer.map(footLine).join('<br>')}</td></tr>`,
    '</table></td></tr></table></body></html>',
  ].join('\n');
}

function pageHeader(about: string, label: string | undefined): string {
  if (label === undefined) {
    return `<span class="a" aria-hidden="true" style="color:#0d5c6b;font-size:15px">&#9679;</span> &nbsp;<b class="i" style="font-size:15px;color:#10242a">${escaped(about)}</b>`;
  }
  return `<b class="i" style="color:#10242a">Soundings</b> &nbsp;${escaped(about)}`;
}

function chip(label: string, tone: keyof typeof tones): string {
  const [color, wash] = tones[tone];
  return `<span class="t" style="display:inline-block;padding:2px 8px;border-radius:6px;background:${wash};color:${color};font-size:13px;line-height:20px;font-weight:600">${escaped(label)}</span>`;
}

function heading(title: string, isGreeting: boolean): string {
  const size = isGreeting ? '0;font-size:24px;line-height:32px' : '12px 0 0;font-size:20px;line-height:28px';
  return `<h1 class="i" style="margin:${size};font-weight:600;color:#10242a;overflow-wrap:anywhere">${escaped(title)}</h1>`;
}

const footLine = (one: MailContent['footer'][number]) =>
  typeof one === 'string'
    ? escaped(one)
    : `<a class="f" href="${escaped(one.address)}" style="color:#4b6067;text-decoration:underline">${escaped(one.text)}</a>`;

/** Where a line begins and ends. Mail programs don't know start and end. */
type Sides = { start: 'left' | 'right'; end: 'left' | 'right' };

function blockAsHtml(block: Block, sides: Sides): string {
  const { start } = sides;
  switch (block.kind) {
    case 'text':
      return `<p class="i" style="margin:12px 0 0;color:#10242a;overflow-wrap:anywhere">${escaped(block.text)}</p>`;
    case 'heading':
      return `<h2 class="i" style="margin:24px 0 0;font-size:15px;line-height:22px;font-weight:600;color:#10242a">${escaped(block.text)}</h2>`;
    case 'command':
      return `<p class="w" style="margin:12px 0 0;padding:8px 12px;border-radius:6px;background:#e2f0f2;color:#10242a;font:13px/20px ${mono};word-break:break-word">${escaped(block.text)}</p>`;
    case 'note':
      return `<p class="f" style="margin:20px 0 0;font-size:14px;line-height:21px;color:#4b6067;overflow-wrap:anywhere"><b>${escaped(block.lead)}</b> ${escaped(block.text)}</p>`;
    case 'button':
      return button(block, sides);
    case 'points':
      return `<ul class="i" style="margin:12px 0 0;padding-${start}:20px;color:#10242a;overflow-wrap:anywhere">${block.points.map((point) => `<li>${escaped(point)}</li>`).join('')}</ul>`;
    case 'quote':
      return `<p class="i l" style="margin:12px 0 0;padding-${start}:12px;border-${start}:3px solid #e3e9e8;color:#10242a;overflow-wrap:anywhere">${escaped(block.text)}<br><span class="f" style="font-size:13px;line-height:20px;color:#4b6067">${escaped(block.source)}</span></p>`;
    case 'figures':
      return figures(block.head, block.rows, sides);
    case 'table':
      return table(block.head, block.rows, block.wide, sides);
  }
}

// The whole button can be clicked. The cell has the same colour, for programs that ignore the padding of links.
function button({ text, address, hint }: Block & { kind: 'button' }, { start }: Sides): string {
  const href = escaped(address);
  return (
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin-top:20px"><tr><td class="b" bgcolor="#0d5c6b" style="border-radius:10px;background:#0d5c6b">` +
    `<a class="b" href="${href}" style="display:inline-block;padding:14px 32px;border-radius:10px;background:#0d5c6b;color:#fff;font-size:16px;line-height:20px;font-weight:600;text-decoration:none">${escaped(text)}</a></td></tr></table>\n` +
    `<p class="f" style="margin:20px 0 0;font-size:13px;line-height:20px;color:#4b6067">${escaped(hint)}<br>` +
    `<a class="a"${start === 'right' ? ' dir="ltr"' : ''} href="${href}" style="color:#0d5c6b;text-decoration:underline;word-break:break-all">${href}</a></p>`
  );
}

const tableStart = (name: string) =>
  `<table class="${name} i" width="100%" cellpadding="8" cellspacing="0" border="0" style="margin-top:12px;font-size:14px;line-height:20px;color:#10242a;overflow-wrap:anywhere">`;

/** Aligns the first and last column with the surrounding text. */
const edge = (row: string[], i: number, { start, end }: Sides) =>
  (i === 0 ? `padding-${start}:0;` : '') + (i === row.length - 1 ? `padding-${end}:0;` : '');

const headRow = (head: string[], styleOf: (i: number) => string, sides: Sides) =>
  `<tr>${head.map((text, i) => `<th class="f" scope="col" style="${edge(head, i, sides)}font-size:13px;font-weight:500;white-space:nowrap;color:#4b6067;${styleOf(i)}">${escaped(text)}</th>`).join('')}</tr>`;

const bodyRow = (cells: string[], style: (i: number) => string, sides: Sides) =>
  `<tr valign="top">${cells.map((cell, i) => `<td class="l" style="${edge(cells, i, sides)}${style(i)}border-top:1px solid #e3e9e8">${cell}</td>`).join('')}</tr>`;

function figures(head: string[], rows: string[][], sides: Sides): string {
  const { start, end } = sides;
  const align = (i: number) => `text-align:${i === 0 ? start : end};`;
  const style = (i: number) =>
    i === 0 ? '' : `text-align:${end};white-space:nowrap;font-variant-numeric:tabular-nums;`;
  return `${tableStart('d')}${headRow(head, align, sides)}${rows.map((row) => bodyRow(row.map(escaped), style, sides)).join('')}</table>`;
}

function table(head: string[], rows: string[][], wide: number[], sides: Sides): string {
  // On narrow screens the table head is hidden, so numbers need their column name.
  const named = (cell: string, i: number) =>
    /^\d+([\s\u00a0]?%)?$/.test(cell)
      ? `<span class="h" style="display:none">${escaped(head[i] as string)} </span>${cell}`
      : escaped(cell);
  const lines = rows.map((row) => bodyRow(row.map(named), () => '', sides));
  return `${tableStart('d e')}${headRow(head, (i) => `text-align:${sides.start};width:${wide[i]}%`, sides)}\n${lines.join('\n')}</table>`;
}
