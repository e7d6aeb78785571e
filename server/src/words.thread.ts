// The thread for words that stand out: counts the words of comments that were read before. It opens no database.
import { serveThread } from './jobs/threads.ts';
import { type WrittenComment, wordsThatStandOut } from './results/words.ts';

serveThread((comments: WrittenComment[]) => wordsThatStandOut(comments));
