// Formats amounts of data for people to read.

const units = [
  [1e9, 'GB'],
  [1e6, 'MB'],
] as const;

/** Returns an amount of data such as "1.5 GB", "12 MB" or "340 kB": two digits below 10, and nothing below 1 kB. */
export function sizeText(bytes: number): string {
  // What would be rounded to 1000 of a unit is 1 of the next one.
  const [size, name] = units.find(([unit]) => bytes >= unit * 0.9995) ?? [1e3, 'kB'];
  const amount = bytes / size;
  if (name === 'kB') return `${Math.ceil(amount)} kB`;
  return `${amount < 9.95 ? Number(amount.toFixed(1)) : Math.round(amount)} ${name}`;
}
