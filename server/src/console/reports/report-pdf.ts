// Writes a laid-out report as PDF: tagged for screen readers, with its fonts embedded. The same report yields the same bytes.
import Pdfkit from 'pdfkit';
import { fontOf } from './fonts.ts';
import {
  type Colour,
  type Element,
  type TextLine,
  type Page,
  pageHeight,
  pageWidth,
  type DecorationShape,
} from './report-sheet.ts';

const colours: Record<Colour, string> = {
  ink: '#10242a',
  soft: '#4b6067',
  line: '#d5dedd',
  well: '#e8eeed',
  accent: '#0d5c6b',
  wash: '#a9d3da',
  up: '#0d5c6b',
  down: '#a5321f',
};

type About = {
  title: string;
  /** ISO 639-1. */
  language: string;
  author: string;
  /** The day on which the report was created, YYYY-MM-DD. */
  day: string;
};

/** Returns the PDF of a page. */
export async function pdfOf(page: Page, { title, language, author, day }: About): Promise<Uint8Array> {
  const created = new Date(`${day}T00:00:00Z`);
  const pdf = new Pdfkit({
    size: [pageWidth, pageHeight],
    margin: 0,
    autoFirstPage: false,
    font: '',
    pdfVersion: '1.7',
    subset: 'PDF/UA' as never,
    tagged: true,
    lang: language,
    displayTitle: true,
    info: {
      Title: title,
      Author: author,
      Creator: 'Soundings',
      Producer: 'Soundings',
      CreationDate: created,
      ModDate: created,
    },
  });
  const chunks: Uint8Array[] = [];
  pdf.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  const ended = new Promise((resolve, reject) => pdf.on('end', resolve).on('error', reject));
  // PDFKit also accepts an opened font, although its types don't allow that.
  for (const weight of ['regular', 'semibold'] as const) pdf.registerFont(weight, fontOf(weight) as never);
  pdf.addPage();
  pdf.markContent('Artifact', { type: 'Layout' });
  for (const shape of page.shapes) draw(pdf, shape);
  pdf.endMarkedContent();
  const elements = page.elements.map((one) => structureOf(pdf, one));
  pdf.addStructure(pdf.struct('Document', {}, elements));
  pdf.end();
  await ended;
  return Buffer.concat(chunks);
}

type Pdf = PDFKit.PDFDocument;

function structureOf(pdf: Pdf, { tag, scope, lines, children }: Element): PDFKit.PDFStructureElement {
  // Each line except the last is followed by a space, so that screen readers don't join the words of two lines.
  const writeAll = () => lines.forEach((line, i) => write(pdf, line, i < lines.length - 1 ? ' ' : ''));
  const content = lines.length === 0 ? [] : [writeAll];
  const options = scope === undefined ? {} : { scope };
  return pdf.struct(tag, options as never, [...content, ...children.map((one) => structureOf(pdf, one))]);
}

function write(pdf: Pdf, { text, x, y, size, weight, colour, align }: TextLine, end: string): void {
  pdf.font(weight).fontSize(size).fillColor(colours[colour]);
  const start = align === 'right' ? x - pdf.widthOfString(text) : x;
  pdf.text(text + end, start, y, { lineBreak: false, baseline: 'alphabetic' });
}

function draw(pdf: Pdf, shape: DecorationShape): void {
  if (shape.kind === 'box') {
    const { x, y, width, height, radius } = shape;
    if (radius > 0) pdf.roundedRect(x, y, width, height, radius);
    else pdf.rect(x, y, width, height);
  } else {
    const { x, y, up } = shape;
    const [tip, base] = up ? [y, y + 5.5] : [y + 5.5, y];
    pdf.polygon([x, base], [x + 6.5, base], [x + 3.25, tip]);
  }
  pdf.fill(colours[shape.colour]);
}
