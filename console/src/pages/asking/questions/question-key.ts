// The keys that the forms suggest for new questions and KPIs.
import { folded } from '@soundings/contract/people/find-groups.ts';

/** Returns a key for a text: "How is the canteen?" becomes how-is-the-canteen. */
export const questionKeyOf = (text: string): string =>
  folded(text)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .split('-')
    .slice(0, 5)
    .join('-');
