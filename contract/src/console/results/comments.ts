// The console: comments that are shown for a group, and the words that stand out in them.
import { Type } from 'typebox';
import { operation } from '../operation.ts';
import type { ResultComment, ResultWeek } from './results.ts';

/** `marks`: the parts of the text that matched the search or the word, as ranges of UTF-16 code units: [first, end). */
export type FoundComment = ResultComment & { marks: [number, number][] };

/** Sorted by question (the one with the newest comment first), then by week (newest first); within a week in random order. */
export type FoundComments = {
  total: number;
  /** The questions of all comments found, in order, each with the number of its comments. */
  questions: { id: number; text: string; comments: number }[];
  rows: FoundComment[];
};

/**
 * The words that stand out in a group, compared with the comments shown in the company but not in the group. Empty unless there
 * are enough comments on both sides.
 */
export type CommentWords = {
  /**
   * `compared`: there were enough comments; `company`: the group is the whole company; `few`: the group, or the rest of the
   * company, has too few comments in every language.
   */
  state: 'compared' | 'company' | 'few';
  /** The weeks compared: all weeks with comments, or the newest ones if there are very many; null: there are no comments. */
  weeks: { first: ResultWeek; last: ResultWeek } | null;
  words: CommentWord[];
};
export type CommentWord = {
  /** The word to filter comments by. */
  word: string;
  /** The word as people in this group write it. */
  text: string;
  /** The language of the comments in which the word stands out. */
  language: string;
  /** `comments`: how many of the group's comments in the language contain the word; `of`: how many there are in the language. */
  comments: number;
  of: number;
  /** The same numbers for the rest of the company; null if the caller can't see the company. */
  elsewhere: { comments: number; of: number } | null;
};

const closed = { additionalProperties: false };
const id = Type.String({ pattern: '^\\d{1,10}$', description: 'An ID: digits.' });
const week = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'A Monday, as YYYY-MM-DD.' });
const language = Type.Optional(Type.Enum(['en', 'sv'], { description: 'en or sv.' }));

const wordFilters = { groupId: id, questionId: Type.Optional(id), week: Type.Optional(week), language };
const commentFilters = {
  ...wordFilters,
  search: Type.Optional(
    Type.String({ maxLength: 200, description: 'Part of the text, ignoring case and Unicode form.' }),
  ),
  word: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'A whole word, ignoring case and Unicode form.',
    }),
  ),
};

export const commentsOperations = {
  /** Returns the comments shown for a group by question, with the parts that match the search marked. */
  'GET /results/comments': operation<FoundComments>()({
    minimumRole: 'Manager',
    query: Type.Object(
      {
        ...commentFilters,
        offset: Type.Optional(Type.String({ pattern: '^\\d{1,7}$', description: 'How many to skip.' })),
        limit: Type.Optional(Type.String({ pattern: '^\\d{1,3}$', description: 'How many; at most 500.' })),
      },
      closed,
    ),
  }),
  /** Returns the words that stand out in a group's comments, compared with the rest of the company. */
  'GET /results/comments/words': operation<CommentWords>()({
    minimumRole: 'Manager',
    query: Type.Object(wordFilters, closed),
  }),
  /** Returns comments as CSV, each with its week, question and group, and the numbers of comments and answers there. */
  'GET /results/comments/csv': operation()({
    minimumRole: 'Manager',
    query: Type.Object(commentFilters, closed),
  }),
};
