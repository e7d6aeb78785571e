// The cards that were just created, until they are printed. They are kept in memory only, because their codes are shown only once.
import type { CardPlan } from '@soundings/contract/console/cards.ts';

export type CardSheet = NonNullable<CardPlan['sheet']>;

let sheet: CardSheet | undefined;

/** Keeps the cards for the page that prints them; undefined when they are no longer needed. */
export function keepSheet(created: CardSheet | undefined): void {
  sheet = created;
}

export const keptSheet = (): CardSheet | undefined => sheet;
