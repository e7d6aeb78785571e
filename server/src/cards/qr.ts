// Draws QR codes.

/**
 * Returns a QR code as the path of an SVG image whose view box has the given size. Each dark module is a square of 1. The caller draws it
 * black on white, with a margin of 4.
 */
export async function qrPathOf(text: string): Promise<{ size: number; path: string }> {
  const { create } = await import('qrcode'); // loaded only here, because it would slow down commands that don't need it
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const { size } = modules;
  let path = '';
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      let run = 0;
      while (x + run < size && modules.get(y, x + run)) run++;
      if (run > 0) path += `M${x} ${y}h${run}v1h-${run}z`;
      x += run;
    }
  }
  return { size, path };
}
