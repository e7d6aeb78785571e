// Why a schedule missed a week, as an English sentence for the log and the soundings command. Pure.
import type { MissedReason } from '@soundings/contract/console/asking.ts';

const sentences: Record<MissedReason, string> = {
  late: 'The round was not opened during the week: the service did not run, the schedule was paused, or it was too late to email anyone.',
  noQuestion: 'No question was due.',
  noGroup: 'None of the groups exist any more.',
  noPeople: 'There was no one to ask.',
  closed: 'The week was already closed.',
  imported: 'A history file was imported into the week, and its author knows the answers.',
  lost: 'The key of the week was lost, and its answers with it.',
  sameText: 'Another round of the week asks some of the same people another question with the same text.',
  nearlySame:
    'Another round of the week asks the same question, and only a few people are asked by just one of the two.',
  tooFewDue:
    'Fewer people than the minimum were due by their date. They are asked as soon as there are enough, while their dates are in the range.',
  other: 'The reason is no longer known.',
};

/** Returns the reason as a sentence. */
export const missedSentence = (reason: MissedReason): string => sentences[reason];
