// Opens the documentation's first page in chromium, searches a rule, and asks axe about both pages.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

const site = process.argv[2];
const axe = fs.readFileSync(path.join(import.meta.dirname, 'node_modules/axe-core/axe.min.js'), 'utf8');
const wrong = [];
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
page.on('pageerror', (error) => wrong.push(`error: ${error}`));

async function ask(name) {
  await page.evaluate(axe);
  // The frame around a page is mdBook's.
  const { violations } = await page.evaluate(() => globalThis.axe.run('main', { resultTypes: ['violations'] }));
  for (const { id, help, nodes } of violations) wrong.push(`${name}: axe: ${id}: ${help}: ${nodes[0].html.slice(0, 160)}`);
}

await page.goto(`file://${site}/index.html`);
if ((await page.locator('main h1').first().textContent()).trim() !== 'hcoplan') wrong.push('the first page has another title');
const broken = await page.locator('main img').evaluateAll((all) => all.filter((i) => !i.complete || i.naturalWidth === 0).map((i) => i.src));
if (broken.length > 0) wrong.push(`pictures that aren't shown: ${broken}`);
await ask('the first page');
await page.keyboard.press('s');
await page.keyboard.type('jsonpatch-present');
const found = page.locator('a[href*="rules/jsonpatch-present.html"]:not(nav a)').first();
await found.click({ timeout: 30_000 });
if ((await page.locator('main h1').first().textContent()).trim() !== 'jsonpatch-present') wrong.push('the search leads elsewhere');
await ask('the page of a rule');
await browser.close();
if (wrong.length > 0) {
  console.error(`site: ${wrong.length} things are wrong\n${wrong.join('\n')}`);
  process.exit(1);
}
console.log('site: the first page and the search work, axe finds nothing');
