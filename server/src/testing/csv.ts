// A plain reader of CSV as RFC 4180 has it, for tests of what we write.

/** The records of a text. Throws where the text is not to the letter: a line break other than CRLF, a stray quote. */
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
