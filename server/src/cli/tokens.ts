// The commands for API tokens.
import { createToken, listTokens, revokeToken } from '../accounts/tokens.ts';
import {
  account,
  accountOf,
  type Command,
  list,
  minuteText,
  numberOf,
  required,
  table,
  text,
  UsageError,
  type OptionValues,
} from './options.ts';

/** Returns the commands. `canMail`: whether a mail server is configured. */
export const tokenCommands = (canMail: () => boolean): Record<string, Command> => ({
  'token create': {
    isLogged: false,
    usage:
      '--account ID --name N --scope data|organization|files|audit [--scope …] [--expires DATE]\n' +
      '                 [--numbers plain|quoted]\n' +
      '    Creates an API token and shows it once. Give it only the scopes it needs. With --numbers quoted, the data interface\n' +
      '    returns numbers as strings, for clients of the original service.',
    options: { ...account, name: text, scope: list, expires: text, numbers: text },
    run: (pool, values) =>
      createToken(
        pool,
        accountOf(values),
        {
          name: required(values, 'name'),
          scopes: scopesOf(values),
          ...(values['expires'] !== undefined && { expires: String(values['expires']) }),
          ...(values['numbers'] !== undefined && { numbers: String(values['numbers']) }),
        },
        { origin: 'command' },
        canMail(),
      ),
    format: ({ id, token, scopes }: Awaited<ReturnType<typeof createToken>>) =>
      `Token ${id} for ${scopes.join(', ')} created (shown only once):\n${token}`,
  },
  'token list': {
    isLogged: false,
    usage: '--account ID',
    options: account,
    run: (pool, values) => listTokens(pool, accountOf(values)),
    format: (tokens: Awaited<ReturnType<typeof listTokens>>) =>
      table([
        ['id', 'name', 'scopes', 'numbers', 'expires', 'last used', 'revoked'],
        ...tokens.map((token) => [
          String(token.id),
          token.name,
          token.scopes.join(' '),
          token.numbers,
          minuteText(token.expiresAt),
          minuteText(token.lastUsedAt),
          minuteText(token.revokedAt),
        ]),
      ]),
  },
  'token revoke': {
    isLogged: false,
    usage: '--account ID --id T\n    Revokes an API token. It stops working immediately.',
    options: { ...account, id: text },
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await revokeToken(pool, accountOf(values), id);
      return { id, revoked: true };
    },
    format: ({ id }: { id: number }) => `Token ${id} revoked.`,
  },
});

/** Reads the scopes of a token. There is no default, so that no one creates an all-powerful token by accident. */
function scopesOf(values: OptionValues): string[] {
  const scopes = values['scope'] as string[] | undefined;
  if (!scopes?.length)
    throw new UsageError(
      '--scope is required: data, organization, files or audit. Repeat it for each scope.',
    );
  return scopes;
}
