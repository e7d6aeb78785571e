// The console: printed cards, with which people answer who have no email address, and kiosks, on which they do. For administrators only.
// Nothing here reveals whether a card was used.
import { Type } from 'typebox';
import { operation } from './operation.ts';
import { Chosen } from './people.ts';

export type KioskRow = {
  id: number;
  name: string;
  /** The group whose people can answer there. Null: everyone of the account. */
  group: { id: number; name: string } | null;
  createdAt: string;
  /** The name of the administrator who created it, if known. */
  createdBy: string | null;
};

export type Cards = {
  /** Active people who can have a card: those who get no messages, because they have no address or want none. */
  people: number;
  /** How many of them have one. */
  withCard: number;
  /** Cards of people who now get the questions by email or text message. They don't work. */
  resting: number;
  /** Whether emails or text messages can be sent. */
  hasMail: boolean;
  kiosks: KioskRow[];
};

/** How a card is read out, in its language. */
export type CardTexts = {
  direction: 'ltr' | 'rtl';
  title: string;
  scan: string;
  enter: string;
  again: string;
  keep: string;
  privacy: string;
};

/** A card to print. */
export type PrintedCard = {
  name: string;
  /** The first group, by name, that the person is a member of. */
  group: string | null;
  language: string;
  /** The code in three groups. It is shown only now. */
  code: string;
  /** The square code, as the path of an SVG image whose view box has this size, without its margin. */
  qr: { size: number; path: string };
};

export type CardPlan = {
  /** How many cards are created, and for how many of them an earlier card stops working. */
  creating: number;
  replacing: number;
  /** Chosen people with a card, which stays as it is unless cards are replaced. */
  withCard: number;
  /** Chosen people who can't have a card, because they get the questions by email or text message. */
  reachable: number;
  inactive: number;
  /** How many cards can be created at a time. */
  most: number;
  /** The cards by group and name, and the texts by language. Null for a preview. */
  sheet: { company: string; texts: Record<string, CardTexts>; cards: PrintedCard[] } | null;
};

const administrator = { minimumRole: 'Administrator' } as const;
const closed = { additionalProperties: false } as const;

export const cardsOperations = {
  'GET /cards': operation<Cards>()(administrator),
  /** Creates cards for people who can't get email, or only returns how many. */
  'POST /cards': operation<CardPlan>()({
    ...administrator,
    body: Type.Object(
      {
        chosen: Chosen,
        isReplacing: Type.Boolean({ description: 'Whether people who have a card get a new one.' }),
        isPreview: Type.Boolean({ description: 'True: only return how many.' }),
      },
      closed,
    ),
  }),
  /** Removes the cards of people, or only returns how many there are. */
  'POST /cards/removal': operation<{ count: number }>()({
    ...administrator,
    body: Type.Object({ chosen: Chosen, isPreview: Type.Boolean() }, closed),
  }),
  /** Creates a kiosk. The address is returned only now. */
  'POST /kiosks': operation<{ id: number; address: string }>()({
    ...administrator,
    body: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
        groupId: Type.Union([Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), Type.Null()]),
      },
      closed,
    ),
  }),
  /** Turns a kiosk off. Its address stops working. */
  'DELETE /kiosks/{kioskId}': operation()(administrator),
};
