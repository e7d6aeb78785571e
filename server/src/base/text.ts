// Texts that others sent, as they may be repeated in our own.

/** Quoted, and cut where it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`);
}

/** Returns the question "Did you mean …?" with a space before it, or nothing when none of the names is like the one given. */
export function didYouMean(given: string, names: Iterable<string>): string {
  const nearest = nearestOf(given, names);
  return nearest === undefined ? '' : ` Did you mean ${quote(nearest)}?`;
}

// Longer than any name that is known here: comparing it would cost much and find nothing.
const longestName = 50;

function nearestOf(given: string, names: Iterable<string>): string | undefined {
  if (given.length > longestName) return undefined;
  const wanted = comparable(given);
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const far = distance(wanted, comparable(name));
    if (far < least && far < name.length) [nearest, least] = [name, far];
  }
  return nearest;
}

// So that first_name and FirstName are as near to firstName as can be.
const comparable = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Returns how many letters must be added, removed or replaced to make one word of the other (Levenshtein). */
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
