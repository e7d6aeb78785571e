// Quotes texts from outside in our own messages.

/** Returns a text in quotes, shortened if it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`);
}

/** Returns " Did you mean …?" with a leading space, or an empty text if none of the names is similar to the given one. */
export function didYouMean(given: string, names: Iterable<string>): string {
  const nearest = nearestOf(given, names);
  return nearest === undefined ? '' : ` Did you mean ${quote(nearest)}?`;
}

// Longer than any known name. Comparing longer texts would be slow and find nothing.
const longestName = 50;

function nearestOf(given: string, names: Iterable<string>): string | undefined {
  if (given.length > longestName) return undefined;
  const wanted = comparable(given);
  let nearest: string | undefined;
  let shortest = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const found = distance(wanted, comparable(name));
    if (found < shortest && found < name.length) [nearest, shortest] = [name, found];
  }
  return nearest;
}

// Ignores case and punctuation, so that first_name and FirstName match firstName.
const comparable = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Returns how many letters must be added, removed or replaced to turn one word into the other (Levenshtein distance). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
