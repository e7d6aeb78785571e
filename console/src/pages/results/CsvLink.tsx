// The link with which the results pages offer their table as CSV.
import { Download } from 'lucide-react';
import { addressOf } from '../../api.ts';
import { useLanguage, useText } from '../../text/text.tsx';
import { LinkButton } from '../../ui/Button.tsx';

/** A link that downloads a table as CSV. */
export function CsvLink({ name, params, query }: { name: CsvName; params?: object; query?: object }) {
  const t = useText();
  const language = useLanguage();
  return (
    <LinkButton href={addressOf(name, { params, query: { ...query, language } })} download icon={Download}>
      {t('results.csv')}
    </LinkButton>
  );
}
type CsvName =
  | 'GET /results/groups/{groupId}/csv'
  | 'GET /results/heat-map/csv'
  | 'GET /results/trends/csv'
  | 'GET /results/drivers/csv'
  | 'GET /results/groups/{groupId}/questions/{questionId}/csv'
  | 'GET /results/comments/csv'
  | 'GET /breakdowns/{breakdownId}/heat-map/csv'
  | 'GET /breakdowns/{breakdownId}/trends/csv'
  | 'GET /breakdowns/{breakdownId}/questions/{questionId}/csv';
