// The context with which ID tokens of sessions are sealed.
import type { Provider } from '../providers.sql.ts';

export const idTokenContext = ({ publicKey }: Pick<Provider, 'publicKey'>): string => `ID token ${publicKey}`;
