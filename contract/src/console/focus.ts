// The console: what groups work on. A group has one or two KPIs or questions as its focus, with what it will do, who is
// responsible, and the due date.
import { Type } from 'typebox';
import { maxFocusAction, maxFocusNote, maxFocusResponsible } from '../limits.ts';
import { operation } from './operation.ts';
import type { ResultGroup, ResultKpi } from './results/results.ts';

export type FocusState = 'open' | 'done' | 'stopped';

/** A monthly check-in. */
export const focusOutlooks = ['onTrack', 'needsHelp', 'done'] as const;
export type FocusOutlook = (typeof focusOutlooks)[number];

export type FocusEventKind = 'created' | 'changed' | FocusOutlook | 'stopped' | 'reopened';

/** What a group will do, who is responsible, and the due date (YYYY-MM-DD). */
export type FocusTerms = { action: string; responsible: string; until: string };

export type FocusEvent = {
  id: number;
  kind: FocusEventKind;
  at: string;
  /** Null: the user has been removed since. */
  who: string | null;
  note: string;
  /** The terms from then on; null: unchanged. */
  terms: FocusTerms | null;
};

/** What a focus is about. `isRetired`: a question that is no longer asked. */
export type FocusSubject = { kind: 'kpi' | 'question'; id: string; name: string; isRetired: boolean };

export type Focus = FocusTerms & {
  id: number;
  subject: FocusSubject;
  state: FocusState;
  /** The last check-in of an open focus; null: none yet. */
  outlook: 'onTrack' | 'needsHelp' | null;
  /** Whether the monthly check-in is due, and whether the last day of the focus has passed. */
  isDue: boolean;
  isLate: boolean;
  createdAt: string;
  /** Newest first. */
  history: FocusEvent[];
};

/** Something that has helped elsewhere. `source`: the title and publisher of the publication. */
export type FocusSuggestion = { kpiId: string; text: string; source: { title: string; publisher: string } };

export type GroupFocus = {
  group: ResultGroup;
  /** Whether the caller can change it: the group's owners and administrators. */
  canEdit: boolean;
  /** Open ones first, then the newest. */
  focuses: Focus[];
  /** What can be chosen. */
  kpis: ResultKpi[];
  questions: { id: string; text: string; kpiIds: string[] }[];
  suggestions: FocusSuggestion[];
};

/** How many groups have a focus, and what their last check-ins say. Names no group. */
export type FocusCounts = {
  /** All groups, and those with at least one open focus. */
  groups: number;
  withFocus: number;
  /** Open ones by their last check-in, and those whose check-in is due. */
  open: number;
  onTrack: number;
  needsHelp: number;
  notChecked: number;
  due: number;
  done: number;
  stopped: number;
};

const closed = { additionalProperties: false };
const text = (maxLength: number, minLength = 1) => Type.String({ minLength, maxLength });
const terms = {
  action: text(maxFocusAction),
  responsible: text(maxFocusResponsible),
  until: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
};
const note = text(maxFocusNote, 0);
const language = Type.Optional(Type.Enum(['en', 'sv'], { description: 'en or sv.' }));

export const focusOperations = {
  'GET /focus': operation<FocusCounts>()({ minimumRole: 'Administrator' }),
  'GET /focus/groups/{groupId}': operation<GroupFocus>()({
    minimumRole: 'Manager',
    query: Type.Object({ language }, closed),
  }),
  'POST /focus/groups/{groupId}': operation<{ id: number }>()({
    minimumRole: 'Manager',
    body: Type.Object(
      {
        kind: Type.Enum(['kpi', 'question']),
        subject: Type.String({ minLength: 1, maxLength: 500 }),
        ...terms,
      },
      closed,
    ),
  }),
  'PATCH /focus/{focusId}': operation()({ minimumRole: 'Manager', body: Type.Object(terms, closed) }),
  'POST /focus/{focusId}/check-in': operation()({
    minimumRole: 'Manager',
    body: Type.Object({ outlook: Type.Enum([...focusOutlooks]), note }, closed),
  }),
  'POST /focus/{focusId}/stop': operation()({ minimumRole: 'Manager', body: Type.Object({ note }, closed) }),
  'POST /focus/{focusId}/reopen': operation()({
    minimumRole: 'Manager',
    body: Type.Object({ note }, closed),
  }),
};
