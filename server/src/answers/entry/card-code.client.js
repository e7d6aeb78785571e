// The code of a card in a text, by the same rules as cards/card-code.ts, so that a slip costs no attempt and no connection.
// oxlint-disable-next-line no-unused-vars -- other scripts of the page call it
function codeIn(text) {
  const characters = '23456789CDFHJKMNPQRTWXY';
  const lookalikes = { Z: '2', S: '5', G: '6', B: '8', O: 'Q', 0: 'Q' };
  const typed = text.slice(-200).toUpperCase().replace(/[\s-]/g, '');
  const code = (/[0-9A-Z]{12}$/.exec(typed)?.[0] ?? '').replace(/[ZSGBO0]/g, (one) => lookalikes[one]);
  const values = [...code].map((one) => characters.indexOf(one));
  if (code === '' || values.includes(-1)) return undefined;
  const sum = values.slice(0, -1).reduce((total, value, i) => total + (i + 1) * value, 0);
  return sum % characters.length === values.at(-1) ? code : undefined;
}

// What is typed so far, in groups of four. The text that a scanner types is left as it is.
// oxlint-disable-next-line no-unused-vars -- other scripts of the page call it
function grouped(text) {
  const typed = text.toUpperCase().replace(/[\s-]/g, '');
  return /^[0-9A-Z]{1,12}$/.test(typed) ? typed.replace(/(.{4})(?=.)/g, '$1-') : text;
}
