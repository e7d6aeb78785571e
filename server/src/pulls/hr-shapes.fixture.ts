// Responses in the shapes of Workday (RaaS), BambooHR (a company report), Personio (GET /v1/company/employees) and Microsoft Graph
// (GET /v1.0/users), as their public documentation describes them. The people are invented.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { sendJson } from './pulls.fixture.ts';

const basic = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const unauthorized = (response: ServerResponse): void =>
  void response.writeHead(401).end('{"error":"unauthorized"}');

/** A report with the option Web Service. Workday leaves out fields without a value. */
export const workday =
  (entries: object[]): RequestListener =>
  ({ headers, url }, response) => {
    if (headers.authorization !== basic('ISU_Soundings', 'wd-pässword')) return unauthorized(response);
    if (!url!.includes('format=json'))
      return void response.writeHead(200, { 'content-type': 'text/xml' }).end('<wd:Report_Data/>');
    sendJson(response, { Report_Entry: entries });
  };

export const workdayEntries = [
  {
    Employee_ID: '21001',
    First_Name: 'Maja',
    Last_Name: 'Lind',
    Email: 'maja@nordwind.example',
    Department: 'Operations',
  },
  {
    Employee_ID: '21002',
    First_Name: 'Ola',
    Last_Name: 'Berg',
    Email: 'ola@nordwind.example',
    Department: 'Operations',
    Manager_ID: '21001',
  },
  {
    Employee_ID: '21003',
    First_Name: 'Åsa',
    Last_Name: 'Öberg, "Å"',
    Department: 'Sales',
    Manager_ID: '21001',
  },
];

/** A company report as JSON: the fields and the employees with the numbers or names of these fields as keys. */
export const bamboohr: RequestListener = ({ headers }, response) => {
  if (headers.authorization !== basic('bamboo-key', 'x')) return unauthorized(response);
  sendJson(response, {
    title: 'Soundings',
    fields: [
      { id: 'employeeNumber', type: 'employee_number', name: 'Employee #' },
      { id: 'firstName', type: 'text', name: 'First Name' },
    ],
    employees: [
      {
        id: '7',
        employeeNumber: '101',
        firstName: 'Ken',
        lastName: 'Ito',
        workEmail: 'ken@nordwind.example',
        department: 'Sales',
        status: 'Active',
      },
      {
        id: '8',
        employeeNumber: '102',
        firstName: 'Lea',
        lastName: 'Voss',
        workEmail: null,
        department: 'Support',
        status: 'Inactive',
      },
    ],
  });
};

const labelled = (label: string, value: unknown, type = 'standard') => ({
  label,
  value,
  type,
  universal_id: null,
});

const personioEmployee = (id: number, supervisor: number | null) => ({
  type: 'Employee',
  attributes: {
    id: labelled('ID', id, 'integer'),
    first_name: labelled('First name', `Vera${id}`),
    last_name: labelled('Last name', 'Klee'),
    email: labelled('Email', `vera${id}@nordwind.example`),
    status: labelled('Status', id % 10 === 9 ? 'inactive' : 'active'),
    department: labelled('Department', {
      type: 'Department',
      attributes: { id: 30 + (id % 2), name: id % 2 === 0 ? 'Logistik' : 'Einkauf' },
    }),
    supervisor: labelled(
      'Supervisor',
      supervisor === null
        ? null
        : {
            type: 'Employee',
            attributes: {
              id: labelled('ID', supervisor, 'integer'),
              first_name: labelled('First name', 'X'),
            },
          },
    ),
    cost_centers: labelled('Cost center', [
      { type: 'CostCenter', attributes: { id: 1, name: 'KST', percentage: 100 } },
    ]),
    dynamic_4711: labelled('Schicht', id % 2 === 0 ? 'früh' : 'spät', 'list'),
  },
});

/** The token endpoint and a list in pages with limit and offset. */
export const personio =
  (count: number): RequestListener =>
  (request, response) => {
    const url = new URL(request.url!, 'http://x');
    if (url.pathname === '/v2/auth/token')
      return sendJson(response, {
        access_token: 'papi-token',
        token_type: 'Bearer',
        expires_in: 86_400,
        scope: 'personio:employees:read',
      });
    if (request.headers.authorization !== 'Bearer papi-token') return unauthorized(response);
    const [limit, offset] = [Number(url.searchParams.get('limit')), Number(url.searchParams.get('offset'))];
    const all = Array.from({ length: count }, (_, i) => personioEmployee(i + 1, i === 0 ? null : 1));
    const metadata = {
      total_elements: count,
      current_page: offset / limit,
      total_pages: Math.ceil(count / limit),
    };
    return sendJson(response, {
      success: true,
      metadata,
      offset,
      limit,
      data: all.slice(offset, offset + limit),
    });
  };

const graphUser = (n: number, manager: number | null) => ({
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  givenName: `Nia${n}`,
  surname: 'Holt',
  mail: `nia${n}@nordwind.example`,
  department: n % 2 === 0 ? 'Finance' : 'IT',
  accountEnabled: n !== 3,
  preferredLanguage: null,
  ...(manager !== null && {
    'manager@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#users(id)/manager',
    manager: {
      '@odata.type': '#microsoft.graph.user',
      id: `00000000-0000-4000-8000-${String(manager).padStart(12, '0')}`,
    },
  }),
});

/** The token endpoint of Entra, and users in pages with @odata.nextLink. */
export const graph =
  (count: number, pageSize = 100): RequestListener =>
  (request, response) => {
    const url = new URL(request.url!, `http://${request.headers.host}`);
    if (url.pathname === '/tenant-1/oauth2/v2.0/token')
      return sendJson(response, {
        token_type: 'Bearer',
        expires_in: 3599,
        ext_expires_in: 3599,
        access_token: 'eyJ0.graph',
      });
    if (request.headers.authorization !== 'Bearer eyJ0.graph') return unauthorized(response);
    const skip = Number(url.searchParams.get('$skiptoken') ?? 0);
    const all = Array.from({ length: count }, (_, i) => graphUser(i + 1, i === 0 ? null : 1));
    const next = new URL(url);
    next.searchParams.set('$skiptoken', String(skip + pageSize));
    return sendJson(response, {
      '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#users(id,givenName)',
      ...(skip + pageSize < count && { '@odata.nextLink': next.href }),
      value: all.slice(skip, skip + pageSize),
    });
  };

/** Returns what a token endpoint got in its body. */
export const formIn = ({ body }: { body: string; headers: IncomingMessage['headers'] }) =>
  Object.fromEntries(new URLSearchParams(body));
