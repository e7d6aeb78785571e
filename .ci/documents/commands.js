// Reads the commands of documents: what a reader types into a terminal, and the configuration files between. A fenced block has a language
// (sh, sql, ini and so on, or text for what a program prints). Commands between back quotes in a sentence count as well.
import { readFileSync } from 'node:fs';

/**
 * A command, or the text of a configuration file. `heading`: of its section. `language`: of its block; undefined for a command in a sentence.
 * `line`: where it begins.
 * @typedef {{ document: string, heading: string, language: string | undefined, line: number, text: string }} Command
 */

/** What a command in a sentence begins with. Other words between back quotes are settings, files and so on. */
const programs =
  /^(npx|npm|node|soundings|docker|helm|kubectl|systemctl|journalctl|promtool|openssl|psql|curl|ssh|echo) .|^set -a;/;

/** Returns the commands of a document, in order. Throws if a block has no language. @returns {Command[]} */
export function commandsOf(document) {
  const lines = readFileSync(document, 'utf8').split('\n');
  const commands = [];
  let [heading, block] = ['', undefined];
  for (const [i, line] of lines.entries()) {
    const [, indent, language] = /^( *)```(.*)$/.exec(line) ?? [];
    const place = { document, heading, line: i + 1 };
    if (block && language !== undefined) {
      commands.push(...contentsOf(block));
      block = undefined;
    } else if (block) {
      block.lines.push(line.slice(block.indent));
    } else if (language === '') {
      throw new Error(
        `${document}:${i + 1}: this block has no language. Write \`\`\`text for what a program prints.`,
      );
    } else if (language !== undefined) {
      block = { ...place, line: i + 2, language, indent: indent.length, lines: [] };
    } else {
      heading = /^#+ (.*)/.exec(line)?.[1] ?? heading;
      const quoted = [...line.matchAll(/`([^`]+)`/g)].map(([, text]) => text);
      for (const text of quoted)
        if (programs.test(text)) commands.push({ ...place, heading, language: undefined, text });
    }
  }
  return commands;
}

/** Returns the commands of a block, each of which may have several lines. In other languages, the block is one text. */
function contentsOf({ lines, indent: _indent, ...place }) {
  if (place.language !== 'sh') return [{ ...place, text: `${lines.join('\n')}\n` }];
  const commands = [];
  let isOpen = false;
  for (const [i, line] of lines.entries()) {
    if (isOpen) commands.at(-1).text += `\n${line}`;
    else if (line.trim() !== '') commands.push({ ...place, line: place.line + i, text: line });
    isOpen = /(\\|\||&&)\s*$/.test(line);
  }
  return commands;
}

/**
 * Returns the commands without those in sentences that only name one which the documents have elsewhere: its beginning, such as `npx soundings
 * backup`, a part of it, or the same with a placeholder, such as FILE.
 * @param {Command[]} commands
 */
export function withoutMentions(commands) {
  const seen = new Set();
  return commands.filter(({ language, text }, i) => {
    if (language !== undefined) return true;
    const named = new RegExp(
      `^([A-Z_]+=[^ ]+ )*${text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll(placeholder, '[^ ]+')}( |$)`,
    );
    const isNamed = commands.some(
      (one, j) => i !== j && one.text !== text && one.text.split(/ && /).some((part) => named.test(part)),
    );
    const isRepeated =
      seen.has(text) || commands.some((one) => one.language !== undefined && one.text === text);
    seen.add(text);
    return !isNamed && !isRepeated;
  });
}

/** A word for which the reader puts in something else. */
export const placeholder = /(?<![=A-Z_])[A-Z][A-Z_]+(?![=A-Z_])/g;
