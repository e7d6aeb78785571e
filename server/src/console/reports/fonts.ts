// The fonts of reports: Inter in two weights (SIL Open Font License), for Latin, Greek and Cyrillic. The fonts are opened when they
// are first needed.
import { create, type Font, type GlyphRun } from 'fontkit';
import { readFileSync } from 'node:fs';
import type { Metrics, Weight } from './text-lines.ts';

const files: Record<Weight, string> = {
  regular: '@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf',
  semibold: '@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf',
};

/** How many words each font remembers. */
const runsKept = 20_000;

/** The shapes that depend on neighbouring characters, such as arrows for "->", are turned off. They would take most of the time. */
const features = { calt: false, clig: false, liga: false, rclt: false };

const opened = new Map<Weight, Font>();

/** Returns a font that remembers how it has set each word. Setting all words of a report again would take most of the time. */
export function fontOf(weight: Weight): Font {
  const known = opened.get(weight);
  if (known) return known;
  const font = create(readFileSync(new URL(import.meta.resolve(files[weight])))) as Font;
  const layout = font.layout.bind(font);
  const runs = new Map<string, Pick<GlyphRun, 'glyphs' | 'positions'>>();
  font.layout = (text) => {
    const { glyphs, positions } = runs.get(text) ?? layout(text, features);
    if (runs.size >= runsKept) runs.clear();
    runs.set(text, { glyphs, positions });
    // The positions are copied, because PDFKit changes them when it scales the text, and the width is their sum.
    const own = positions.map((position) => ({ ...position }));
    return {
      glyphs,
      positions: own,
      get advanceWidth() {
        return own.reduce((sum, { xAdvance }) => sum + xAdvance, 0);
      },
    } as GlyphRun;
  };
  opened.set(weight, font);
  return font;
}

const widths: Record<Weight, Map<number, number>> = { regular: new Map(), semibold: new Map() };

/** Returns the width of a character at size 1. */
function widthOf(codePoint: number, weight: Weight): number {
  const known = widths[weight].get(codePoint);
  if (known !== undefined) return known;
  const font = fontOf(weight);
  const width = font.glyphForCodePoint(codePoint).advanceWidth / font.unitsPerEm;
  widths[weight].set(codePoint, width);
  return width;
}

export const fontMetrics: Metrics = {
  has: (codePoint) => fontOf('regular').hasGlyphForCodePoint(codePoint),
  widthOf(text, weight) {
    let width = 0;
    for (const character of text) width += widthOf(character.codePointAt(0) as number, weight);
    return width;
  },
};
