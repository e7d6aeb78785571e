// Answers of open weeks as they are kept: under the person's number in the week, and nothing else. They are given by a
// personal link (answering.ts), or come with a history.
import { type AnswerRow, copyAnswers } from './answers.sql.ts';

export type Answer = AnswerRow;
export { copyAnswers };
