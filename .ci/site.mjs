// Opens each page of the documentation in chromium on a phone, a laptop and a wide screen, searches a rule, and asks axe
// about three pages. With a second argument, writes pictures of pages there.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

const [site, pictures] = process.argv.slice(2);
const WIDTHS = [390, 1000, 1700];
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

// Pages of docs/ and one of a rule; the others of rules have the same parts.
const names = fs.readdirSync(site).filter((name) => name.endsWith('.html') && !['404.html', 'print.html', 'toc.html'].includes(name));
for (const width of WIDTHS) {
  await page.setViewportSize({ width, height: 800 });
  for (const name of [...names, 'rules/jsonpatch-present.html']) {
    await page.goto(`file://${site}/${name}`);
    const at = `${name}, ${width} wide`;
    if (!(await page.locator('main h1').first().isVisible())) wrong.push(`${at}: no title`);
    const { scroll, client } = await page.evaluate(() => ({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth }));
    if (scroll > client) wrong.push(`${at}: scrolls to the side by ${scroll - client} pixels`);
    const broken = await page.locator('main img').evaluateAll((all) => all.filter((i) => !i.complete || i.naturalWidth === 0).map((i) => i.src));
    if (broken.length > 0) wrong.push(`${at}: pictures that aren't shown: ${broken}`);
    if (pictures) await page.screenshot({ path: path.join(pictures, `${name.replaceAll('/', '-')}-${width}.png`) });
  }
}
if (names.length < 25) wrong.push(`only ${names.length} pages`);

await page.setViewportSize({ width: 1000, height: 800 });
await page.goto(`file://${site}/index.html`);
if ((await page.locator('main h1').first().textContent()).trim() !== 'hcoplan') wrong.push('the first page has another title');
await ask('the first page');
await page.keyboard.press('s');
await page.keyboard.type('jsonpatch-present');
const found = page.locator('a[href*="rules/jsonpatch-present.html"]:not(nav a)').first();
await found.click({ timeout: 30_000 });
if ((await page.locator('main h1').first().textContent()).trim() !== 'jsonpatch-present') wrong.push('the search leads elsewhere');
await ask('the page of a rule');
await page.goto(`file://${site}/commands.html`);
await ask('the page of commands');
await browser.close();
if (wrong.length > 0) {
  console.error(`site: ${wrong.length} things are wrong\n${wrong.join('\n')}`);
  process.exit(1);
}
console.log(`site: ${names.length} pages at ${WIDTHS.length} widths and the search work, axe finds nothing`);
