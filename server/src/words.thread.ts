// The thread for words that stand out: counts the words of comments that were read before, and posts the result. It opens no
// database.
import { parentPort, workerData } from 'node:worker_threads';
import { type WrittenComment, wordsThatStandOut } from './results/words.ts';

parentPort!.postMessage({ words: wordsThatStandOut(workerData as WrittenComment[]) });
