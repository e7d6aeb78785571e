// All benchmarks by name, in both sizes.
import { answersPlans, benchAnswers } from './answers.ts';
import { backupPlans, benchBackup } from './operating/backup.ts';
import { benchConsole, consolePlans } from './console.ts';
import { benchData, dataPlans, smallDataPlans } from './data.ts';
import { benchDrivers, driversPlans } from './drivers.ts';
import { benchDrops, dropsPlans } from './files.ts';
import { benchHostile, hostilePlans } from './hostile.ts';
import { type Bench, inBothSizes, type Plans } from './measuring/plans.ts';
import { benchMail, mailPlans } from './mail.ts';
import { benchReading, readingPlans } from './reading/reading.ts';
import { benchReports, reportsPlans } from './reports.ts';
import { benchResults, resultsPlans } from './pages/results.ts';
import { benchSftp, sftpPlans } from './sftp.ts';
import { benchScim, scimPlans } from './scim.ts';
import { benchLargeConsole, largeConsolePlans } from './scale/console.ts';
import { benchScale, scalePlans } from './scale/scale.ts';
import { benchSheets, sheetsPlans } from './sheets.ts';
import { benchStatistics, statisticsPlans } from './statistics/statistics.ts';
import { benchSync, syncPlans } from './sync.ts';

export const benches: Record<string, Plans<Bench>> = {
  sync: inBothSizes(benchSync, syncPlans),
  scim: inBothSizes(benchScim, scimPlans),
  data: inBothSizes(benchData, dataPlans),
  answers: inBothSizes(benchAnswers, answersPlans),
  console: inBothSizes(benchConsole, consolePlans),
  results: inBothSizes(benchResults, resultsPlans),
  reports: inBothSizes(benchReports, reportsPlans),
  drivers: inBothSizes(benchDrivers, driversPlans),
  sheets: inBothSizes(benchSheets, sheetsPlans),
  mail: inBothSizes(benchMail, mailPlans),
  drops: inBothSizes(benchDrops, dropsPlans),
  sftp: inBothSizes(benchSftp, sftpPlans),
  statistics: inBothSizes(benchStatistics, statisticsPlans),
  backup: inBothSizes(benchBackup, backupPlans),
};

/** Benchmarks that run only if you name them. */
export const trials: Record<string, Plans<Bench>> = {
  scale: inBothSizes(benchScale, scalePlans),
  'data:reading': inBothSizes(benchReading, readingPlans),
  'console:scale': inBothSizes(benchLargeConsole, largeConsolePlans),
  'data:small': inBothSizes(benchData, smallDataPlans),
  hostile: inBothSizes(benchHostile, hostilePlans),
};
