// A report as a sheet of paper: on screen it is as wide as there is room, in print it is exactly one A4 page.
import type {
  PrintedReport,
  ReportMark,
  ReportRow,
  ReportSection,
} from '@soundings/contract/console/reports.ts';
import { cx } from '../../ui/cx.ts';
import focusCss from './focus.module.css';
import css from './report.module.css';

export function ReportSheet({ report }: { report: PrintedReport }) {
  return (
    <article className={css['sheet']} lang={report.language}>
      <header className={css['head']}>
        <div>
          <p className={css['note']}>{report.company}</p>
          <h2 className={css['title']}>{report.group.name}</h2>
          {report.about !== '' && <p className={css['note']}>{report.about}</p>}
        </div>
        <p className={css['period']}>
          <strong>{report.period.title}</strong>
          <span className={css['note']}>{report.period.dates}</span>
        </p>
      </header>
      <Findings {...report} />
      <Kpis {...report} />
      <div className={css['questions']}>
        <Questions {...report.strongest} />
        <Questions {...report.weakest} />
      </div>
      <Focus {...report.focus} />
      <Comments {...report.comments} />
      <footer className={css['foot']}>
        <h3 className={css['small']}>{report.anonymity.title}</h3>
        <p>{report.anonymity.text}</p>
        <p className={css['note']}>{report.legend}</p>
        <p className={css['note']}>{report.created}</p>
      </footer>
    </article>
  );
}

function Findings({ findings, response }: PrintedReport) {
  if (findings.items.length === 0 && response === null) return null;
  return (
    <div className={css['band']}>
      {findings.items.length > 0 && (
        <section>
          <h3 className={css['heading']}>{findings.title}</h3>
          <ul className={css['findings']}>
            {findings.items.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      {response && (
        <section>
          <h3 className={css['heading']}>{response.title}</h3>
          <p className={css['rate']}>{response.rate}</p>
          <svg className={css['bar']} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden>
            <rect width="100" height="4" className={css['well']} />
            <rect width={100 * Math.min(1, response.share)} height="4" className={css['accent']} />
          </svg>
          <p className={css['note']}>{response.text}</p>
        </section>
      )}
    </div>
  );
}

function Kpis({ kpis }: PrintedReport) {
  if (kpis.items.length === 0) return null;
  const { heads } = kpis;
  const isCompared = heads.compared !== '';
  return (
    <section>
      <Heading {...kpis} />
      <div className={css['scroll']}>
        <table className={css['kpis']}>
          <thead>
            <tr>
              <th scope="col">{heads.name}</th>
              <td aria-hidden />
              <th scope="col" className={css['number']}>
                {heads.score}
              </th>
              <th scope="col" className={css['number']}>
                {heads.change}
              </th>
              {isCompared && (
                <>
                  <th scope="col" className={cx(css['number'], css['compared'])}>
                    {heads.compared}
                  </th>
                  <th scope="col" className={css['number']}>
                    {heads.difference}
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {kpis.items.map((row) => (
              <tr key={row.name}>
                <th scope="row">
                  <strong>{row.name}</strong> <span className={css['note']}>{row.note}</span>
                </th>
                <td aria-hidden className={css['chartCell']}>
                  <Chart {...row} />
                </td>
                <td className={css['number']}>
                  <Score {...row} />
                </td>
                <td className={css['number']}>{row.change && <Mark {...row.change} />}</td>
                {isCompared && (
                  <>
                    <td className={css['number']}>{row.compared !== null && Math.round(row.compared)}</td>
                    <td className={css['number']}>{row.difference && <Mark {...row.difference} />}</td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const Heading = ({ title, note }: Pick<ReportSection<unknown>, 'title' | 'note'>) => (
  <div className={css['headings']}>
    <h3 className={css['heading']}>{title}</h3>
    {note !== '' && <p className={css['note']}>{note}</p>}
  </div>
);

const Score = ({ value, score }: ReportRow) =>
  score === null ? <span className={css['note']}>{value}</span> : <strong>{value}</strong>;

/** A clear change or difference with its arrow, or the words for one that is not clear. */
function Mark({ text, verdict }: ReportMark) {
  if (verdict === 'unclear') return <span className={cx(css['note'], css['unclear'])}>{text}</span>;
  return (
    <span className={cx(css['mark'], css[verdict])}>
      <svg viewBox="0 0 10 9" width="8" height="7" aria-hidden>
        <path d={verdict === 'up' ? 'M0 9h10L5 0z' : 'M0 0h10L5 9z'} />
      </svg>
      {text}
    </span>
  );
}

/** The score as a point on a line from 0 to 100, with its interval, and a tick for the comparison. */
function Chart({ score, margin, compared }: ReportRow) {
  const at = (value: number) => Math.min(100, Math.max(0, value));
  return (
    <svg viewBox="0 0 100 14" className={css['chart']} aria-hidden>
      <rect y="5.8" width="100" height="2.4" rx="1.2" className={css['well']} />
      {score !== null && (
        <>
          {margin !== null && (
            <rect
              x={at(score - margin)}
              y="2"
              width={at(score + margin) - at(score - margin)}
              height="10"
              rx="3"
              className={css['interval']}
            />
          )}
          {compared !== null && (
            <rect x={at(compared) - 0.8} width="1.6" height="14" className={css['tick']} />
          )}
          <circle cx={at(score)} cy="7" r="3.8" className={css['accent']} />
        </>
      )}
    </svg>
  );
}

function Questions({ items, ...head }: ReportSection<ReportRow>) {
  if (items.length === 0) return null;
  return (
    <section>
      <Heading {...head} />
      <ul className={css['list']}>
        {items.map((row) => (
          <li key={row.name}>
            <span>
              {row.name} <span className={cx(css['note'], css['line'])}>{row.note}</span>
            </span>
            <span className={css['number']}>
              <Score {...row} />
              {row.difference && row.difference.verdict !== 'unclear' && (
                <span className={css['line']}>
                  <Mark {...row.difference} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Focus({ items, ...head }: PrintedReport['focus']) {
  if (items.length === 0) return null;
  return (
    <section>
      <Heading {...head} />
      <ul className={focusCss['focus']}>
        {items.map((text) => (
          <li key={text} dir="auto">
            {text}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Comments({ items, ...head }: PrintedReport['comments']) {
  if (items.length === 0 && head.note === '') return null;
  return (
    <section>
      <Heading {...head} />
      <ul className={css['comments']}>
        {items.map(({ text, question, week }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- comments have no id, so that they reveal nothing
          <li key={index}>
            <p className={css['comment']} dir="auto">
              {text}
            </p>
            <p className={css['note']}>{`${question} · ${week}`}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
