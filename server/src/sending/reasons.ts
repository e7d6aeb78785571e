// What a mail server or a gateway says about a message, in a form that can be logged and shown.

/** Returns a text as one line. */
export const oneLine = (value: string): string => value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** Returns the reason that was given, as one line of at most 300 characters without addresses and links. `to`: the recipient. */
export function withoutAddresses(text: string, to: string): string {
  const line = oneLine(
    text
      .replaceAll(to, '…')
      .replaceAll(/https?:\/\/\S+/gi, '…') // a spam filter may quote a link, which is secret
      .replaceAll(/\S*\/[ar]\/\w{20,}\S*/g, '…')
      .replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '…'),
  );
  return line.length <= 300 ? line : `${line.slice(0, 300).toWellFormed()}…`;
}
