// The dialog to map the columns and values of a file: shows examples, and confirms the mappings for every later file.
import type {
  FileColumns,
  FileDetails,
  MappingKind,
  SheetColumn,
  SheetColumns,
} from '@soundings/contract/console/runs.ts';
import { columnMeanings, type ValueField, type ValueMeaning } from '@soundings/contract/people/meanings.ts';
import { Fragment, type ReactNode, useState } from 'react';
import { api, ApiError } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { CountryField } from '../../../ui/form/CountryField.tsx';
import { Confirm, PlanDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { useErrorText, useFaultText } from '../../../ui/faults.ts';
import { Notice } from '../../../ui/page/Notice.tsx';
import { ToggleGroup } from '../../../ui/form/ToggleGroup.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { useMeaningText } from './meanings.ts';
import { changedMeanings, choiceKey, type ValueChoices, valueFieldOf, ValueTable } from './ValueTable.tsx';
import css from './files.module.css';

type File = Pick<FileDetails, 'fileId' | 'name'>;

export function ColumnsDialog({ file, onClose }: { file: File; onClose: () => void }) {
  const t = useText();
  const { fileId, name } = file;
  const plan = useData('GET /files/{fileId}/columns', { params: { fileId } });
  return (
    <PlanDialog
      wide
      plan={plan}
      onClose={onClose}
      title={t('files.columnsTitle', { name })}
      {...(plan.data && { description: t('files.columnsText') })}
      waiting={<p className={css['soft']}>{t('files.readingColumns')}</p>}
    >
      {(shown) => <Mapping file={file} shown={shown} onClose={onClose} />}
    </PlanDialog>
  );
}

/** A sheet with the user's choices. A sheet without a kind is not read. */
type Choice = { kind: MappingKind | 'none'; meanings: string[] };

const firstChoice = (sheet: SheetColumns, count: number): Choice => ({
  kind: count > 1 && sheet.columns.every(({ isKnown }) => !isKnown) ? 'none' : sheet.kind,
  meanings: sheet.columns.map(({ meaning }) => meaning),
});

/** Returns the columns that are mapped to `meaning`. */
const chosenAs = (sheets: SheetColumns[], choices: Choice[], meaning: string): SheetColumn[] =>
  sheets.flatMap(({ columns }, i) =>
    choices[i]?.kind === 'none'
      ? []
      : columns.filter((_, column) => choices[i]?.meanings[column] === meaning),
  );

function Mapping({ file, shown, onClose }: { file: File; shown: FileColumns; onClose: () => void }) {
  const t = useText();
  const { sheets } = shown;
  const [choices, setChoices] = useState(() => sheets.map((sheet) => firstChoice(sheet, sheets.length)));
  const [values, setValues] = useState<ValueChoices>(new Map());
  const [country, setCountry] = useState(shown.country);
  const confirm = useConfirming(file.fileId);
  const set = (index: number, choice: Choice) =>
    setChoices((all) => all.map((one, i) => (i === index ? choice : one)));
  const choose = (field: ValueField, value: string, meaning: ValueMeaning) =>
    setValues((all) => new Map([...all, [choiceKey(field, value), meaning]]));
  const isNothing = choices.every(({ kind }) => kind === 'none');
  const local = chosenAs(sheets, choices, 'phone').reduce((sum, column) => sum + column.localNumbers, 0);
  const sent = choices.flatMap(({ kind }, i) => (kind === 'none' ? [] : [i]));
  return (
    <Confirm
      onClose={onClose}
      confirm={t('files.confirm')}
      disabled={isNothing}
      onConfirm={() => confirm(bodyOf(shown, { choices, values, country }, sent))}
      text={(error) => (
        <WithFaults error={error}>
          {(faultAt) => (
            <>
              {sheets.length === 0 && <Notice tone="warn">{t('files.noColumns')}</Notice>}
              {sheets.map((sheet, i) => (
                <Sheet
                  // oxlint-disable-next-line react/no-array-index-key -- sheets may have the same shown name
                  key={i}
                  sheet={sheet}
                  attributes={shown.attributes}
                  choice={choices[i] as Choice}
                  onChange={(choice) => set(i, choice)}
                  values={values}
                  onValue={choose}
                  errorAt={(column) => faultAt(`/sheets/${sent.indexOf(i)}/columns/${column}/meaning`)}
                />
              ))}
              {local > 0 && (
                <CountryField
                  label={t('files.country')}
                  hint={t('files.countryHint', { count: local })}
                  error={faultAt(countryPath)}
                  value={country}
                  onChange={setCountry}
                />
              )}
            </>
          )}
        </WithFaults>
      )}
    />
  );
}

type Chosen = { choices: Choice[]; values: ValueChoices; country: string | null };

/** Returns the request body. `sent`: the sheets to include. */
function bodyOf(
  { sheets, country: before }: FileColumns,
  { choices, values, country }: Chosen,
  sent: number[],
) {
  const fields: ValueField[] = ['active', 'role', 'isManager'];
  return {
    sheets: sent.map((i) => ({
      kind: choices[i]?.kind as MappingKind,
      columns: (sheets[i] as SheetColumns).columns.map(({ header }, column) => ({
        header,
        meaning: choices[i]?.meanings[column] ?? 'ignore',
      })),
    })),
    values: fields.flatMap((field) =>
      chosenAs(sheets, choices, field).flatMap((column) => changedMeanings(column, field, values)),
    ),
    ...(country !== before && { country }),
  };
}

/** Returns a function that sends the mappings. */
function useConfirming(fileId: number): (body: ReturnType<typeof bodyOf>) => Promise<string> {
  const t = useText();
  const refresh = useRefresh();
  return async (body) => {
    const { isRepeated } = await api('POST /files/{fileId}/columns', { params: { fileId }, body });
    // Not awaited, because the dialog itself shows some of the responses that are refetched.
    void refresh(
      'GET /mappings',
      'GET /files',
      'GET /files/{fileId}',
      'GET /files/{fileId}/columns',
      'GET /session',
    );
    return t(isRepeated ? 'files.confirmedRepeated' : 'files.confirmed');
  };
}

type WithFaultsProps = {
  error: unknown;
  /** `faultAt(path)` returns the message for a column or the country. */
  children: (faultAt: (path: string) => string | undefined) => ReactNode;
};

/** Shows an error above the sheets, unless all of its faults belong to columns or the country. */
function WithFaults({ error, children }: WithFaultsProps) {
  const errorText = useErrorText();
  const faultText = useFaultText();
  const fields = error instanceof ApiError ? error.fields : undefined;
  const isShown = (path: string) =>
    path === countryPath || (path.startsWith('/sheets/') && path.endsWith('/meaning'));
  const isWhole = error !== undefined && ![...(fields ?? [])].every(([path]) => isShown(path));
  return (
    <>
      {isWhole && (
        <Notice tone="bad" live>
          {errorText(error)}
        </Notice>
      )}
      {children((path) => {
        const fault = fields?.get(path);
        return fault && faultText(fault);
      })}
    </>
  );
}

/** The path of faults of the country. */
const countryPath = '/defaultCountry';

type SheetProps = {
  sheet: SheetColumns;
  attributes: string[];
  choice: Choice;
  onChange: (choice: Choice) => void;
  values: ValueChoices;
  onValue: (field: ValueField, value: string, meaning: ValueMeaning) => void;
  errorAt: (column: number) => string | undefined;
};

function Sheet({ onChange, ...props }: SheetProps) {
  const t = useText();
  const { sheet, choice } = props;
  const setMeaning = (column: number, to: string) =>
    onChange({ ...choice, meanings: choice.meanings.map((one, i) => (i === column ? to : one)) });
  const setKind = (kind: Choice['kind']) => {
    const allowed: readonly string[] = kind === 'none' ? [] : columnMeanings[kind];
    const fits = (meaning: string) =>
      kind === 'none' || allowed.includes(meaning) || (kind === 'users' && meaning.startsWith('attribute:'));
    onChange({ kind, meanings: choice.meanings.map((one) => (fits(one) ? one : 'ignore')) });
  };
  const title = sheet.sheet === '' ? t('files.rowOf', { row: sheet.row }) : sheet.sheet;
  return (
    <section className={css['sheet']} aria-label={title}>
      <div className={css['sheetHead']}>
        <h3 className={css['sheetTitle']}>
          {title}
          {sheet.sheet !== '' && (
            <span className={css['soft']}> · {t('files.rowOf', { row: sheet.row })}</span>
          )}
        </h3>
        <ToggleGroup
          label={t('files.contents')}
          value={choice.kind}
          onChange={setKind}
          options={(['users', 'groups', 'none'] as const).map((value) => ({
            value,
            label: t(`files.kind.${value}`),
          }))}
        />
      </div>
      {choice.kind !== 'none' && <ColumnTable {...props} kind={choice.kind} onMeaning={setMeaning} />}
    </section>
  );
}

type TableProps = Omit<SheetProps, 'onChange'> & {
  kind: MappingKind;
  onMeaning: (column: number, meaning: string) => void;
};

function ColumnTable({ sheet, attributes, choice, kind, values, onValue, errorAt, onMeaning }: TableProps) {
  const t = useText();
  const meaningText = useMeaningText();
  const meanings = [
    'ignore',
    ...columnMeanings[kind],
    ...(kind === 'users' ? attributes.map((name) => `attribute:${name}`) : []),
  ];
  const options = meanings.map((value) => ({ value, label: meaningText(value) }));
  return (
    <table className={css['columns']}>
      <thead>
        <tr>
          <th scope="col">{t('files.inFile')}</th>
          <th scope="col">{t('files.example')}</th>
          <th scope="col">{t('files.readAs')}</th>
        </tr>
      </thead>
      <tbody>
        {sheet.columns.map((column, i) => {
          const { header, example } = column;
          const field = kind === 'users' ? valueFieldOf(choice.meanings[i]) : undefined;
          return (
            // oxlint-disable-next-line react/no-array-index-key -- the same header may occur twice
            <Fragment key={i}>
              <tr>
                <th scope="row">{header}</th>
                <td>{example === null ? <span className={css['soft']}>–</span> : <code>{example}</code>}</td>
                <td>
                  <span className={css['chosen']}>
                    <Select
                      label={t('files.readAsOf', { header })}
                      hideLabel
                      value={choice.meanings[i] ?? 'ignore'}
                      onChange={(value) => onMeaning(i, value)}
                      options={options}
                    />
                    <Doubt column={column} />
                  </span>
                  {errorAt(i) !== undefined && (
                    <span className={css['bad']} role="alert">
                      {errorAt(i)}
                    </span>
                  )}
                </td>
              </tr>
              {field && column.valueCount !== 0 && (
                <tr>
                  <td colSpan={3}>
                    <ValueTable
                      column={column}
                      field={field}
                      choices={values}
                      onChoose={(value, to) => onValue(field, value, to)}
                    />
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

/** Why a column needs attention. */
function Doubt({ column: { couldBe, isKnown } }: { column: SheetColumn }) {
  const t = useText();
  const meaningText = useMeaningText();
  if (couldBe !== null)
    return <Badge tone="warn">{t('files.couldBe', { meaning: meaningText(couldBe) })}</Badge>;
  return isKnown ? null : <Badge tone="warn">{t('files.unknownColumn')}</Badge>;
}
