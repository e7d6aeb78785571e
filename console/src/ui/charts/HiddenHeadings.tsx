// The column headings of a chart that is a table, for screen readers only.

export const HiddenHeadings = ({ headings }: { headings: readonly string[] }) => (
  <thead className="visually-hidden">
    <tr>
      {headings.map((heading) => (
        <th key={heading} scope="col">
          {heading}
        </th>
      ))}
    </tr>
  </thead>
);
