// Texts that others sent, as they may be repeated in our own.

/** Quoted, and cut where it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 100).toWellFormed()}…`);
}
