// A simple, strict reader of CSV (RFC 4180), for tests of files that we write.

/** Returns the records of a text. Throws if it breaks the standard, for example with a line break other than CRLF. */
export function readCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    const rest = /"((?:[^"]|"")*)"|([^",\r\n]*)/y;
    rest.lastIndex = at;
    const [all = '', quoted, plain = ''] = rest.exec(text) ?? [];
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    at += all.length;
    if (text[at] === ',') at++;
    else if (text.startsWith('\r\n', at)) {
      records.push(record);
      record = [];
      at += 2;
    } else throw new Error(`Neither comma nor CRLF at ${at}: ${JSON.stringify(text.slice(at, at + 20))}`);
  }
  if (record.length > 0) throw new Error('The last record has no CRLF.');
  return records;
}
