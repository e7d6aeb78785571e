// The question library: every question of the account, by KPI and type, with its languages and when it was asked.
import type { Library, LibraryQuestion } from '@soundings/contract/console/asking.ts';
import { questionTypes } from '@soundings/contract/question-types.ts';
import { ListChecks, Plus } from 'lucide-react';
import { useMemo } from 'react';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { folded } from '@soundings/contract/people/find-groups.ts';
import { Page, ToolbarGap, ToolbarText } from '../../../ui/page/Page.tsx';
import { SearchField } from '../../../ui/form/SearchField.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import { LanguageBadges } from './LanguageBadges.tsx';
import css from '../asking.module.css';
import { useKpiName, useQuestionText } from '../texts.ts';
import { useLanguageNames } from '../../../text/languages.ts';

type Filters = { q?: string; kpi?: string; type?: string; missing?: string; state?: string; sort?: string };

export function LibraryPage() {
  const t = useText();
  const response = useData('GET /library');
  const [filters, change] = useAddress<keyof Filters>();
  const found = useFound(response.data, filters);
  return (
    <Page
      title={t('asking.library')}
      waits={!response.data}
      subtitle={response.data && t('asking.librarySize', { count: response.data.questions.length })}
      actions={
        <LinkButton kind="primary" icon={Plus} to="/questions/new">
          {t('asking.newQuestion')}
        </LinkButton>
      }
      toolbar={
        response.data ? (
          <Toolbar library={response.data} filters={filters} change={change} count={found.length} />
        ) : (
          <ToolbarGap />
        )
      }
    >
      <Loaded response={response}>
        {(library) => (
          <Questions
            library={library}
            rows={found}
            sort={filters.sort ?? 'kpi'}
            onSort={(sort) => change({ sort })}
            onClear={() => change({ q: '', kpi: '', type: '', missing: '', state: '' })}
          />
        )}
      </Loaded>
    </Page>
  );
}

const stateOf = ({ isRetired }: LibraryQuestion) => (isRetired ? 'retired' : 'used');

function useFound(library: Library | undefined, filters: Filters): LibraryQuestion[] {
  const textOf = useQuestionText();
  const kpiName = useKpiName();
  const language = useLanguage();
  const { q = '', kpi = '', type = '', missing = '', state = 'used', sort = 'kpi' } = filters;
  return useMemo(() => {
    if (!library) return [];
    const wanted = folded(q);
    const nameOf = new Map(library.kpis.map((one) => [one.id, kpiName(one)]));
    const isMatch = (one: LibraryQuestion) =>
      (kpi === '' || (kpi === 'none' ? one.kpiIds.length === 0 : one.kpiIds.includes(kpi))) &&
      (type === '' || String(one.type) === type) &&
      (missing === '' || !one.languages.includes(missing)) &&
      (state === 'all' || stateOf(one) === state) &&
      [one.key, one.text, ...Object.values(one.translations)].some((text) => folded(text).includes(wanted));
    const keys: Record<string, (one: LibraryQuestion) => string> = {
      // Questions without a KPI come last.
      kpi: ({ kpiIds, type: kind }) =>
        `${kpiIds[0] === undefined ? '\uFFFF' : nameOf.get(kpiIds[0])} ${kind}`,
      text: textOf,
      type: (one) => String(one.type),
      weeks: ({ weeks }) => String(weeks).padStart(6, '0'),
      last: ({ last }) => last?.week ?? '',
    };
    const by = keys[sort.replace('-', '')] ?? keys['kpi']!;
    const way = sort.startsWith('-') ? -1 : 1;
    return library.questions
      .filter(isMatch)
      .toSorted((a, b) => way * by(a).localeCompare(by(b), language) || a.id - b.id);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- textOf follows the language, as the catalogue does
  }, [library, q, kpi, type, missing, state, sort, kpiName, language]);
}

type ToolbarProps = {
  library: Library;
  filters: Filters;
  change: (changes: Filters) => void;
  count: number;
};

function Toolbar({ library, filters, change, count }: ToolbarProps) {
  const t = useText();
  const kpiName = useKpiName();
  const { nameOf } = useLanguageNames();
  const any = { value: '', label: t('asking.any') };
  return (
    <>
      <SearchField
        label={t('asking.searchQuestions')}
        value={filters.q ?? ''}
        onChange={(q) => change({ q })}
      />
      <Select
        label={t('asking.kpi')}
        value={filters.kpi ?? ''}
        onChange={(kpi) => change({ kpi })}
        options={[
          any,
          ...library.kpis.map((kpi) => ({ value: kpi.id, label: kpiName(kpi) })),
          { value: 'none', label: t('asking.noKpi') },
        ]}
      />
      <Select
        label={t('asking.type')}
        value={filters.type ?? ''}
        onChange={(type) => change({ type })}
        options={[
          any,
          ...questionTypes.map((type) => ({ value: String(type), label: t(`questionType.${type}`) })),
        ]}
      />
      <Select
        label={t('asking.missing')}
        value={filters.missing ?? ''}
        onChange={(missing) => change({ missing })}
        options={[
          { value: '', label: t('asking.nothing') },
          ...library.languages.map((code) => ({ value: code, label: nameOf(code) })),
        ]}
      />
      <Select
        label={t('asking.state')}
        value={filters.state ?? 'used'}
        onChange={(state) => change({ state: state === 'used' ? '' : state })}
        options={(['used', 'retired', 'all'] as const).map((state) => ({
          value: state,
          label: t(`asking.state.${state}`),
        }))}
      />
      <ToolbarGap />
      <ToolbarText>{t('asking.found', { count })}</ToolbarText>
    </>
  );
}

type QuestionsProps = {
  library: Library;
  rows: LibraryQuestion[];
  sort: string;
  onSort: (sort: string) => void;
  onClear: () => void;
};

function Questions({ library, rows, sort, onSort, onClear }: QuestionsProps) {
  const t = useText();
  const columns = useColumns(library);
  return (
    <DataTable
      label={t('asking.library')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      to={({ id }) => `/questions/${id}`}
      rowHeight={56}
      sort={sort}
      onSort={onSort}
      empty={
        <Empty
          icon={ListChecks}
          title={t('state.noMatch')}
          action={<Button onClick={onClear}>{t('action.clearFilters')}</Button>}
        />
      }
    />
  );
}

function useColumns({ kpis, language }: Library): Column<LibraryQuestion>[] {
  const t = useText();
  const textOf = useQuestionText();
  const { full } = useWeekText();
  const kpiName = useKpiName();
  const kpiNames = new Map(kpis.map((kpi) => [kpi.id, kpiName(kpi)]));
  return [
    {
      key: 'text',
      title: t('asking.question'),
      width: 'minmax(160px, 3fr)',
      sortable: true,
      cell: (one) => (
        <span className={css['two']}>
          <span className={css['lead']} title={textOf(one)}>
            {textOf(one)}
          </span>
          <span className={css['key']}>{one.key}</span>
        </span>
      ),
      beside: (one) => one.isRetired && <Badge>{t('asking.retired')}</Badge>,
    },
    {
      key: 'kpi',
      title: t('asking.kpi'),
      width: 'minmax(120px, 1.7fr)',
      sortable: true,
      wideOnly: true,
      cell: ({ kpiIds }) =>
        kpiIds.map((id) => kpiNames.get(id)).join(', ') || <span className={css['soft']}>–</span>,
    },
    {
      key: 'type',
      title: t('asking.type'),
      width: 150,
      sortable: true,
      wideOnly: 'medium',
      cell: ({ type }) => t(`questionType.${type}`),
    },
    {
      key: 'languages',
      title: t('asking.languages'),
      width: 150,
      cell: (one) => <LanguageBadges question={one} wanted={[language]} />,
    },
    {
      key: 'weeks',
      title: t('asking.asked'),
      width: 100,
      sortable: true,
      wideOnly: 'large',
      cell: ({ weeks }) =>
        weeks > 0 ? (
          t('asking.weeks', { count: weeks })
        ) : (
          <span className={css['soft']}>{t('asking.never')}</span>
        ),
    },
    {
      key: 'last',
      title: t('asking.lastAsked'),
      width: 110,
      sortable: true,
      wideOnly: 'large',
      cell: ({ last }) => (last ? full(last) : ''),
    },
  ];
}
