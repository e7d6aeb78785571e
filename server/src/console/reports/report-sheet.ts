// The page that a report is laid out on: its size, its styles, and how a text is set. Pure.
import { wrappedLines, type Metrics, replacedText, type Weight } from './text-lines.ts';

/** A4 in points. */
export const [pageWidth, pageHeight] = [595.28, 841.89];

export type Colour = 'ink' | 'soft' | 'line' | 'well' | 'accent' | 'wash' | 'up' | 'down';

/** A text on one line. `y`: its baseline. With `align: 'right'`, it ends at `x`. */
export type TextLine = {
  text: string;
  x: number;
  y: number;
  size: number;
  weight: Weight;
  colour: Colour;
  align: 'left' | 'right';
};

/** Part of the logical structure, for screen readers. `tag`: a structure type of PDF. */
export type Element = {
  tag: 'H1' | 'H2' | 'P' | 'L' | 'LI' | 'LBody' | 'Table' | 'TR' | 'TH' | 'TD' | 'Sect';
  scope?: 'Row' | 'Column';
  lines: TextLine[];
  children: Element[];
};

/** Decoration. All that it shows is also text. */
export type DecorationShape =
  | { kind: 'box'; x: number; y: number; width: number; height: number; radius: number; colour: Colour }
  | { kind: 'triangle'; x: number; y: number; up: boolean; colour: Colour };

/** `shown`: how many comments fit. */
export type Page = { elements: Element[]; shapes: DecorationShape[]; shown: number };

export const [left, top, bottom] = [48, 46, 38];
export const right = pageWidth - left;
export const wide = right - left;

export type Style = { size: number; weight: Weight; colour: Colour; leading: number };
export const styles = {
  title: { size: 22, weight: 'semibold', colour: 'ink', leading: 27 },
  period: { size: 12, weight: 'semibold', colour: 'accent', leading: 15 },
  heading: { size: 11, weight: 'semibold', colour: 'ink', leading: 15 },
  finding: { size: 11.5, weight: 'regular', colour: 'ink', leading: 15.5 },
  rate: { size: 26, weight: 'semibold', colour: 'accent', leading: 30 },
  body: { size: 9.5, weight: 'regular', colour: 'ink', leading: 13 },
  strong: { size: 9.5, weight: 'semibold', colour: 'ink', leading: 13 },
  note: { size: 8, weight: 'regular', colour: 'soft', leading: 11 },
  small: { size: 8, weight: 'regular', colour: 'ink', leading: 11 },
  up: { size: 9.5, weight: 'semibold', colour: 'up', leading: 13 },
  down: { size: 9.5, weight: 'semibold', colour: 'down', leading: 13 },
} as const satisfies Record<string, Style>;

/** Collects what is on the page. `y` is where the next element begins. */
export type Sheet = { metrics: Metrics; shapes: DecorationShape[]; y: number };

export const element = (tag: Element['tag'], lines: TextLine[], children: Element[] = []): Element => ({
  tag,
  lines,
  children,
});

/** Sets a text from the sheet's `y` down, and moves `y` to its end. */
export function set(
  text: string,
  style: Style,
  sheet: Sheet,
  { x = left, width = wide, most = 1, align = 'left' as TextLine['align'] } = {},
): TextLine[] {
  const { size, weight, colour, leading } = style;
  const { metrics } = sheet;
  const lines = wrappedLines(replacedText(text, metrics), { width, size, weight, most }, metrics);
  return lines.map((line) => {
    sheet.y += leading;
    // The baseline leaves a quarter of the leading for descenders.
    return { text: line, x, y: sheet.y - leading * 0.26, size, weight, colour, align };
  });
}

/** Sets a text at a height, without moving the sheet's `y`. */
export const setAt = (
  text: string,
  style: Style,
  sheet: Sheet,
  y: number,
  more: Parameters<typeof set>[3],
): TextLine[] => set(text, style, { ...sheet, y }, more);

export const rule = (sheet: Sheet, x = left, width = wide) =>
  void sheet.shapes.push({ kind: 'box', x, y: sheet.y, width, height: 0.6, radius: 0, colour: 'line' });
