"""Near-miss (false) mutations in 16 categories and truth-keeping rewordings over a plain sentence. No NLTK: WordNet 3.1 files + lemminflect."""
import re,random,collections,functools
from lemminflect import getInflection,getAllLemmas
import os
WN=os.environ.get('WORDNET','wordnet/dict')+'/'
NUMW='zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split()
ORDW='first second third fourth fifth sixth seventh eighth ninth tenth'.split()
MON='January February March April May June July August September October November December'.split()
DAY='Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split()
UNITS=[g.split() for g in ['kilometres miles metres feet yards','kilometers miles meters feet yards','km miles m ft','hours minutes seconds days','days weeks months years','million billion thousand','hundred thousand million','kilograms pounds tonnes grams','kg lb g tonnes','litres gallons millilitres','percent per-mille','MB GB KB TB','dollars pounds euros yen','acres hectares','centuries decades years','daily weekly monthly annually','hour day week month year']]
ANT=[tuple(x.split('/')) for x in 'increase/decrease increased/decreased increases/decreases increasing/decreasing rise/fall rose/fell rising/falling high/low higher/lower highest/lowest large/small larger/smaller largest/smallest big/little long/short longer/shorter longest/shortest old/young older/younger oldest/youngest early/late earlier/later earliest/latest rich/poor richer/poorer strong/weak stronger/weaker strongest/weakest hot/cold hotter/colder warm/cool fast/slow faster/slower good/bad better/worse best/worst true/false public/private legal/illegal open/closed opened/closed begin/end began/ended begins/ends start/stop started/stopped win/lose won/lost accept/reject accepted/rejected allow/forbid allowed/forbidden allows/forbids permitted/prohibited include/exclude includes/excludes included/excluded success/failure successful/unsuccessful common/rare major/minor maximum/minimum majority/minority male/female men/women man/woman husband/wife father/mother brother/sister son/daughter king/queen north/south northern/southern east/west eastern/western northeast/southwest northwest/southeast left/right inside/outside above/below over/under upper/lower before/after first/last more/less most/least ancient/modern internal/external positive/negative rural/urban temporary/permanent simple/complex easy/difficult possible/impossible known/unknown popular/unpopular democratic/authoritarian Democratic/Republican Catholic/Protestant peace/war victory/defeat arrived/departed entered/left bought/sold buy/sell gained/lost expanded/shrank grew/shrank improved/worsened joined/left supported/opposed supports/opposes support/oppose for/against agreed/disagreed approved/rejected built/demolished created/destroyed appeared/disappeared attacked/defended strengthened/weakened remembered/forgot praised/criticized free/paid required/optional mandatory/optional enabled/disabled import/export imports/exports imported/exported upward/downward forward/backward mortal/immortal dry/wet full/empty heavy/light deep/shallow wide/narrow thick/thin domestic/foreign single/married alive/dead native/foreign primary/secondary formal/informal active/inactive voluntary/compulsory inner/outer'.split()]
ANTM={}
for a,b in ANT: ANTM.setdefault(a,b); ANTM.setdefault(b,a)
COMP='more less fewer higher lower larger smaller greater longer shorter older younger earlier later faster slower better worse richer poorer stronger weaker before after above below over under largest smallest highest lowest longest shortest oldest youngest most least increase decrease increased decreased north south east west northern southern eastern western'.split()
COMPM={'fewer':'more','greater':'smaller'}
QUANT={'all':['few','no'],'most':['few'],'many':['few','no'],'some':['all','no'],'several':['no'],'few':['most','many'],'every':['no'],'each':['no'],'always':['never','rarely'],'usually':['rarely','never'],'often':['rarely','never'],'sometimes':['always','never'],'rarely':['usually','often'],'never':['often','always'],'both':['neither of the'],'only':['not only'],'mostly':['hardly'],'mainly':['only'],'almost':['more than'],'nearly':['more than'],'about':['more than double'],'approximately':['more than double'],'entirely':['partly'],'partly':['entirely'],'frequently':['rarely'],'generally':['never'],'at least':['at most','fewer than'],'at most':['at least'],'more than':['less than','fewer than'],'less than':['more than'],'fewer than':['more than'],'up to':['at least','more than'],'majority':['minority'],'half':['all','a tenth'],'one of the':['the only one of the']}
BE={'is','are','was','were'}; MODAL={'can','could','may','might','must','should','will','would','shall'}
STOP=set('a an the of in on at to for from by with and or but as is are was were be been being has have had do does did not no it its he she they his her their this that these those which who whom whose what when where why how than then there here also such so if because while although though however all some any many most more less few other another into over under about after before between during through against its own same'.split())
def tok(s): return re.findall(r"\w+(?:[.,]\d+)*(?:['’]\w+)?|[^\w\s]|\s+",s)
def cap(s): return s[:1].upper()+s[1:]
@functools.lru_cache(100000)
def lemmas(w,p): 
    return tuple(getAllLemmas(w,p).get(p,()))
@functools.lru_cache(100000)
def infl(l,t):
    r=getInflection(l,t); return r[0] if r else None
class Wn:
    def __init__(s):
        s.idx={};s.syn={};s.hypo=collections.defaultdict(list)
        for pos in('noun','verb','adj'):
            for l in open(WN+'index.'+pos):
                if l[0]==' ': continue
                p=l.split(); np_=int(p[3]); tag=int(p[5+np_]); s.idx[pos,p[0]]=(tag,p[6+np_:])
            for l in open(WN+'data.'+pos):
                if l[0]==' ': continue
                p=l.split(' | ')[0].split(); n=int(p[3],16); ws=[p[4+2*i] for i in range(n)]; k=4+2*n; np_=int(p[k]); hy=[]
                for i in range(np_):
                    a=p[k+1+4*i:k+5+4*i]
                    if a[0]=='@': hy.append(a[1])
                s.syn[pos,p[0]]=(ws,hy)
                for hh in hy: s.hypo[pos,hh].append(p[0])
    def sib(s,l,pos='noun'):
        e=s.idx.get((pos,l))
        if not e or e[0]==0: return []
        o=e[1][0]; ws,hy=s.syn[pos,o]; res=[]
        for h in hy[:1]:
            for c in s.hypo[pos,h]:
                if c==o: continue
                for w in s.syn[pos,c][0][:1]:
                    if w.isalpha() and w.islower() and w!=l and w not in ws:
                        q=s.idx.get((pos,w))
                        if q and q[0]>0 and q[1][0]==c: res.append(w)
        return res
    def syns(s,l,pos):
        e=s.idx.get((pos,l))
        if not e or e[0]==0 or len(e[1])>4: return []
        o=e[1][0]; res=[]
        for w in s.syn[pos,o][0]:
            w=re.sub(r'\(.*','',w)
            if w!=l and w.isalpha() and w.islower():
                q=s.idx.get((pos,w))
                if q and q[0]>0 and q[1][0]==o and len(q[1])<=4: res.append(w)
        return res
W=Wn()
ENT=re.compile(r"(?<![\w'])(?:[A-Z][\w'’.-]*[\w]|[A-Z])(?:\s+(?:(?:of|the|de|von|van|du|la|and)\s+)?(?:[A-Z][\w'’-]*|[IVX]+))*")
SKIP=set('The A An In On At It He She They This That These Those His Her Their Its For From By With And But As If When While After Before During Although However Since Some Many Most All One Two Three There Here Also Such Under Over Between Because According What Who Which How Why Where I We You Our My January February March April May June July August September October November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split())
def ents(s):
    r=[]
    for m in ENT.finditer(s):
        t=m.group(0); st=m.start()
        while True:
            f=t.split(' ',1)
            if f[0] in SKIP and len(f)>1: st+=len(f[0])+1; t=f[1].lstrip()
            else: break
        if t in SKIP or len(t)<3 or (st==0 and ' ' not in t and t.lower() in STOP): continue
        if st==0 and ' ' not in t and (lemmas(t.lower(),'NOUN') or lemmas(t.lower(),'VERB')) and t.lower()!=t and W.idx.get(('noun',t.lower()),(0,))[0]>0: continue
        prev=re.search(r"(\w+)\s*$",s[:st]); r.append((st,st+len(t),t,prev.group(1).lower() if prev else ''))
    return r
def sub(s,a,b,x): return s[:a]+x+s[b:]
def fmtn(v,like): return f'{v:,}' if ',' in like else str(v)
def m_number(s,c,R):
    C=[m for m in re.finditer(r'(?<![\w.,$-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])',s)]+[m for m in re.finditer(r'\b('+'|'.join(NUMW[2:]+ORDW)+r')\b',s)]+[m for m in re.finditer(r'(?<=[$€£])\d+(?:,\d{3})*(?:\.\d+)?',s)]
    C=[m for m in C if not re.fullmatch(r'1[0-9]{3}|20[0-4]\d',m.group(0))]
    if not C: return
    m=R.choice(C); t=m.group(0)
    if t in NUMW: x=R.choice([w for w in NUMW[2:] if w!=t])
    elif t in ORDW: x=R.choice([w for w in ORDW if w!=t])
    elif '.' in t:
        v=float(t.replace(',','')); x=f'{v*R.choice([.5,.8,1.2,1.5,2,10]):.{len(t.split(".")[1])}f}'
    else:
        try: v=int(t.replace(',',''))
        except ValueError: return
        k=R.random(); n=v+R.choice([-3,-2,-1,1,2,3,5,10]) if k<.4 else int(v*R.choice([.1,.2,.5,2,3,10])) if k<.75 else int(''.join(R.sample(str(v),len(str(v)))))
        if n<=0 or n==v: n=v+R.randint(1,9)
        x=fmtn(n,t)
    return sub(s,m.start(),m.end(),x) if x!=t else None
def m_unit(s,c,R):
    o=[]
    for g in UNITS:
        for u in g:
            for m in re.finditer(r'(?<=[\d] )'+u+r'\b' if len(u)<4 or u in('hours','days','years') else r'\b'+u+r'\b',s): o.append((m,R.choice([x for x in g if x!=u])))
    for m in re.finditer(r'[$€£]',s): o.append((m,R.choice([x for x in '$€£' if x!=m.group(0)])))
    for m in re.finditer(r'\d ?%',s): o.append((m,m.group(0)[0]+R.choice([' per mille',' percentage points' ])))
    if not o: return
    m,x=R.choice(o); return sub(s,m.start(),m.end(),x)
def m_date(s,c,R):
    o=[(m,None) for m in re.finditer(r'\b(1[0-9]{3}|20[0-4]\d)s?\b',s)]+[(m,MON) for m in re.finditer(r'\b('+'|'.join(MON)+r')\b',s)]+[(m,DAY) for m in re.finditer(r'\b('+'|'.join(DAY)+r')\b',s)]+[(m,'c') for m in re.finditer(r'\b\d{1,2}(?:st|nd|rd|th)\b',s)]
    if not o: return
    m,k=R.choice(o); t=m.group(0)
    if k is None:
        y=int(t[:4]); z=10 if t.endswith('s') else 1; n=y+R.choice([-30,-20,-10,10,20]) if z==10 else y+R.choice([-20,-11,-10,-7,-5,-4,-3,-2,-1,1,2,3,4,5,6,10,12,20])
        oth=[x for x in c.get('years',[]) if x!=t[:4]]
        if oth and R.random()<.4: n=int(R.choice(oth))
        x=str(n)+('s' if z==10 else '')
    elif k=='c':
        n=int(t[:-2])+R.choice([-2,-1,1,2]); 
        if n<1: return
        x=str(n)+{1:'st',2:'nd',3:'rd'}.get(n%10 if n%100 not in(11,12,13) else 0,'th')
    else: x=R.choice([q for q in k if q!=t])
    return sub(s,m.start(),m.end(),x) if x!=t else None
def m_entity(s,c,R):
    E=ents(s); 
    if not E: return
    a,b,t,p=R.choice(E); pool=[x for x in c.get('ents',[]) if x[0] not in s and t not in x[0] and x[0] not in t]
    if not pool: return
    same=[x for x in pool if x[1]==p and p]; near=[x for x in pool if len(x[0].split())==len(t.split())]
    q=R.choice(same or near or pool)[0]; return sub(s,a,b,q)
SYM={'married','met','and','between','with','versus','joined','equals','resembles','or','including','was','is','are','were','near'}
def m_role(s,c,R):
    E=[e for e in ents(s)]
    m=re.search(r'\bfrom ([^,.;]{2,40}?) to ([^,.;]{2,40}?)(?=[,.;]| in | by | and |$)',s)
    if m and R.random()<.4: return s[:m.start()]+f'from {m.group(2)} to {m.group(1)}'+s[m.end():]
    o=[]
    for i in range(len(E)):
        for j in range(i+1,len(E)):
            mid=s[E[i][1]:E[j][0]]
            if len(mid)>60 or ';' in mid or ',' in mid or re.search(r'\b(and|or|between|with|near|called|named|known)\b',mid): continue
            vs=[w for w in re.findall(r'\b[a-z]+\b',mid) if lemmas(w,'VERB') and w not in STOP and not w in SYM]
            if vs or re.search(r'\b(than|by|before|after|over)\b',mid): o.append((i,j))
    if not o: return
    i,j=R.choice(o); A,B=E[i],E[j]
    return s[:A[0]]+B[2]+s[A[1]:B[0]]+A[2]+s[B[1]:]
def words(s): return [(m.start(),m.end(),m.group(0)) for m in re.finditer(r"\b[a-z]{3,}\b",s)]
def m_noun(s,c,R):
    o=words(s); R.shuffle(o)
    for a,b,w in o:
        if w in STOP: continue
        l=lemmas(w,'NOUN')
        if not l: continue
        if lemmas(w,'VERB') and W.idx.get(('verb',lemmas(w,'VERB')[0]),(0,))[0]>W.idx.get(('noun',l[0]),(0,))[0]: continue
        sb=W.sib(l[0])
        pool=[x for x in c.get('nouns',()) if x in sb] or sb
        if not pool: continue
        x=R.choice(pool)
        if w!=l[0]: x=infl(x,'NNS') or x
        return sub(s,a,b,x)
def vtag(w):
    for l in lemmas(w,'VERB'):
        for t in('VBD','VBZ','VBG','VBN','VB'):
            if infl(l,t)==w: return l,t
    return None
def m_pred(s,c,R):
    o=words(s); R.shuffle(o)
    for a,b,w in o:
        if w in STOP or w in MODAL: continue
        v=vtag(w)
        if not v: continue
        l,t=v
        if max([W.idx.get(('noun',q),(0,))[0] for q in (w,)+lemmas(w,'NOUN')])>=W.idx.get(('verb',l),(0,))[0] or W.idx.get(('adj',w),(0,))[0]>0: continue
        if t=='VB' and not re.search(r'\b(to|can|could|may|might|must|should|will|would|not|they|we|you|I)\s*$',s[:a]): continue
        pool=W.sib(l,'verb') if R.random()<.5 else [x for x in c.get('verbs',()) if x!=l and x not in W.syns(l,'verb')]
        if not pool: continue
        x=infl(R.choice(pool),t)
        if x and x!=w: return sub(s,a,b,x)
def m_modal(s,c,R):
    o=[]
    for pat,xs in [(r'\bmay\b',['must','always','cannot']),(r'\bmight\b',['will','cannot']),(r'\bcan\b',['must','cannot']),(r'\bcould\b',['could not','had to']),(r'\bmust\b',['may','need not']),(r'\bshould\b',['must','need not']),(r'\bwill\b',['may','will not']),(r'\brequires?\b',['recommends']),(r'\bplans? to\b',['has already begun to']),(r'\battempted to\b',['managed to']),(r'\btried to\b',['managed to']),(r'\brefused to\b',['agreed to']),(r'\bproposed\b',['adopted']),(r'\bsuggests?\b',['proves']),(r'\bbelieved to\b',['proven to']),(r'\bexpected to\b',['certain to']),(r'\blikely\b',['certainly','unlikely']),(r'\bprobably\b',['certainly']),(r'\bpossibly\b',['definitely']),(r'\brecommended\b',['required']),(r'\brequired\b',['optional','recommended']),(r'\ballowed\b',['required','forbidden'])]:
        for m in re.finditer(pat,s): o.append((m,R.choice(xs)))
    if not o: return
    m,x=R.choice(o); return sub(s,m.start(),m.end(),x)
def m_ant(s,c,R,keys=None):
    o=[(m.start(),m.end(),ANTM[m.group(0)]) for m in re.finditer(r"\b[A-Za-z]+\b",s) if m.group(0) in ANTM and (keys is None)==(m.group(0) not in COMP) and m.group(0) not in('for','left','right','first','over','under','men','May')]
    if not o: return
    a,b,x=R.choice(o); return sub(s,a,b,x)
def m_comp(s,c,R):
    o=[(m.start(),m.end(),COMPM.get(m.group(0)) or ANTM[m.group(0)]) for m in re.finditer(r"\b[A-Za-z]+\b",s) if m.group(0) in COMP and (m.group(0) in COMPM or m.group(0) in ANTM)]
    if not o: return
    a,b,x=R.choice(o); return sub(s,a,b,x)
def m_neg(s,c,R):
    m=re.search(r"\b(not|never|no longer)\s",s)
    if m and m.group(1)!='no longer':
        b=s[:m.start()]+s[m.end():]; b=re.sub(r'\b(did|does|do) (\w+)',lambda q:(infl(q.group(2),'VBD' if q.group(1)=='did' else 'VBZ' if q.group(1)=='does' else 'VB') or q.group(2)),b,count=1) if re.search(r'\b(did|does|do) *$',s[:m.start()]) else b
        return re.sub(r'  +',' ',b)
    m=re.search(r"n't\b",s)
    if m: return (s[:m.start()]+s[m.end():]).replace('ca ','can ').replace('wo ','will ')
    o=[m for m in re.finditer(r'\b(is|are|was|were|can|could|may|will|would|should|has been|have been|had been)\b(?! not)',s)]
    if o and R.random()<.8:
        m=R.choice(o[:2]); t=m.group(0); x={'can':'cannot'}.get(t) or (t.split()[0]+' not '+t.split()[1] if ' ' in t else t+R.choice([' not',' not',' never'] if t in BE else [' not'])); return sub(s,m.start(),m.end(),x)
    for a,b,w in words(s):
        v=vtag(w)
        if v and v[1] in('VBD','VBZ') and w not in STOP and re.search(r'\w\s$',s[:a]) and not re.search(r'\b(is|are|was|were|be|been|being|has|have|had|the|a|an|of|by|and|or|in|to)\s$',s[:a]) and max([W.idx.get(('noun',q),(0,))[0] for q in (w,)+lemmas(w,'NOUN')])<W.idx.get(('verb',v[0]),(0,))[0] and W.idx.get(('adj',w),(0,))[0]==0:
            return sub(s,a,b,('did not ' if v[1]=='VBD' else 'does not ')+v[0])
def m_quant(s,c,R):
    o=[]
    for k,xs in QUANT.items():
        for m in re.finditer(r'\b'+k+r'\b',s,re.I):
            x=R.choice(xs); o.append((m,cap(x) if m.group(0)[0].isupper() else x))
    if not o: return
    m,x=R.choice(o); return sub(s,m.start(),m.end(),x)
HEDGE=re.compile(r'^(?:[\w\s]{0,40}?)\b(?:claimed|argued|believed|believes|alleged|suggested|claims|argues|suggests|maintains|speculated|asserted|proposed)\s+that\s+(.{20,})$')
def m_attr(s,c,R):
    m=HEDGE.match(s)
    if m and R.random()<.8: return cap(m.group(1))
    m=re.match(r'^According to ([^,]{3,60}), (.{15,})$',s)
    E=[x[0] for x in c.get('ents',[]) if x[0] not in s]
    if m and E: return f'According to {R.choice(E)}, '+m.group(2)
    if not E: return
    b=s if re.match(r'(?:[A-Z]\w*\s){0,1}[A-Z]',s) and s.split(' ')[0] not in SKIP else s[0].lower()+s[1:]
    e=R.choice(E); return R.choice([f'According to {e}, {b}',f'{e} said that {b}',f'{e} announced that {b}'])
def m_scope(s,c,R):
    m=re.search(r',? (?:if|unless|except|provided that|as long as|only when|only if) [^,.;]{6,80}',s)
    if m and R.random()<.7: return (s[:m.start()]+s[m.end():])
    m=re.match(r'^(?:If|Unless|When|For|Among|Except) [^,]{6,80}, (.{15,})$',s)
    if m and R.random()<.6: return cap(m.group(1))
    m=re.search(r'\b[Oo]nly ',s)
    if m and R.random()<.6: return cap(re.sub(r'\b[Oo]nly ','',s,count=1))
    b=s.rstrip('.'); return b+R.choice([', but only in exceptional cases',' only at weekends',', except in winter',' in every case without exception',', regardless of the circumstances',' for children only',' only with prior approval',' worldwide',', but only for members'])+'.'
def m_temp(s,c,R):
    o=[]
    for pat,xs in [(r'\bformerly\b',['currently']),(r'\bcurrently\b',['formerly','no longer']),(r'\bnow\b',['no longer']),(r'\bused to\b',['still']),(r'\bstill\b',['no longer']),(r'\bno longer\b',['still']),(r'\buntil\b',['since','from']),(r'\bsince\b(?= \d)',['until']),(r'\bbefore\b',['after']),(r'\bafter\b',['before']),(r'\bprior to\b',['following']),(r'\bpreviously\b',['subsequently']),(r'\blater\b',['earlier']),(r'\boriginally\b',['eventually']),(r'\binitially\b',['finally']),(r'\brecently\b',['long ago']),(r'\bduring\b',['before','after']),(r'\btoday\b',['in the past']),(r'\bhas been\b',['had once been']),(r'\b[Ii]n (?=\d{4})',['before ','after ','until '])]:
        for m in re.finditer(pat,s): x=R.choice(xs); o.append((m,cap(x) if m.group(0)[0].isupper() else x))
    if not o: 
        m=re.search(r'\b(is|are)\b(?! not)',s)
        if not m: return
        return sub(s,m.start(),m.end(),R.choice([{'is':'was formerly','are':'were formerly'}[m.group(0)],m.group(0)+' no longer']))
    m,x=R.choice(o); return sub(s,m.start(),m.end(),x)
def m_invent(s,c,R):
    E=[x for x in c.get('ents',[]) if x[0] not in s]; b=s.rstrip('.')
    o=[f', at a cost of {R.randint(2,90)} million dollars',f' for {R.randint(2,30)} years',', for the first time in history',', according to official figures',f', the {R.choice(ORDW[1:])} time it had happened',', following a public vote',', despite strong opposition']
    pl=[x[0] for x in E if x[1] in('in','at','from','to')]
    if pl: o+=[f' in {R.choice(pl)}']*4
    if E: o+=[f', together with {R.choice(E)[0]}',f', funded by {R.choice(E)[0]}',f', as {R.choice(E)[0]} had asked']
    return b+R.choice(o)+'.'
MUT=dict(number=m_number,unit=m_unit,date=m_date,entity_swap=m_entity,role_swap=m_role,noun_swap=m_noun,predicate=m_pred,modality=m_modal,antonym=m_ant,negation=m_neg,quantifier=m_quant,comparison_direction=m_comp,attribution=m_attr,scope_condition=m_scope,temporal_scope=m_temp,invented_detail=m_invent)
NOTSTATED={'attribution','scope_condition','invented_detail'}
# ---- true rewordings
def t_num(s,c,R):
    o=[]
    for m in re.finditer(r'\b(\d{1,3}),(\d{3})\b(?![,\d])',s): o.append((m,m.group(1)+m.group(2)))
    for m in re.finditer(r'\b([2-9]|1\d)\b(?![\w,.%-]|\s*(?:'+'|'.join(MON)+'))(?<![-–,.$€£]\d)',s):
        if not re.search(r'[-–,.$€£]$',s[:m.start()]): o.append((m,NUMW[int(m.group(1))]))
    for m in re.finditer(r'\b('+'|'.join(NUMW[2:])+r')\b',s): o.append((m,str(NUMW.index(m.group(0)))))
    for m in re.finditer(r'(\d) ?%',s): o.append((m,m.group(1)+' percent'))
    for m in re.finditer(r'(\d) per ?cent\b',s): o.append((m,m.group(1)+'%'))
    for m in re.finditer(r'\b(\d+(?:\.\d+)?) (million|billion)\b',s):
        v=float(m.group(1))*(1e6 if m.group(2)=='million' else 1e9); o.append((m,f'{int(round(v)):,}'))
    for m in re.finditer(r'\b('+'|'.join(MON)+r') (\d{1,2}), (\d{4})',s): o.append((m,f'{m.group(2)} {m.group(1)} {m.group(3)}'))
    for m in re.finditer(r'\b(\d{1,2}) ('+'|'.join(MON)+r') (\d{4})',s): o.append((m,f'{m.group(2)} {m.group(1)}, {m.group(3)}'))
    if not o: return
    m,x=R.choice(o); return sub(s,m.start(),m.end(),x)
def t_syn(s,c,R):
    o=words(s); R.shuffle(o)
    for a,b,w in o:
        if w in STOP or w in MODAL: continue
        for pos,P in(('adj','ADJ'),('noun','NOUN'),('verb','VERB')):
            l=lemmas(w,P)
            if not l: continue
            y=W.syns(l[0],pos)
            if not y: continue
            x=R.choice(y)
            if pos=='noun' and w!=l[0]: x=infl(x,'NNS')
            if pos=='verb':
                v=vtag(w); x=infl(x,v[1]) if v else None
            if pos=='adj' and w!=l[0]: x=None
            if x: return sub(s,a,b,x)
PHR=[('in order to','to'),('a number of','several'),('approximately','about'),('about','roughly'),('began','started'),('started','began'),('because of','due to'),('due to','because of'),('known as','called'),('called','known as'),('located in','situated in'),('such as','like'),('including','among them'),('also','too') ,('however,',''),('however',''),('prior to','before'),('following','after'),('purchased','bought'),('bought','purchased'),('founded','established'),('established','founded'),('constructed','built'),('built','constructed'),('died','passed away'),('received','got'),('more than','over'),('over','more than'),('at least','no fewer than'),('majority','most part'),('created','made'),('help','assist'),('required','needed'),('requires','needs'),('obtain','get'),('large','big'),('is able to','can'),('can','is able to'),('must','has to'),('currently','at present'),('each year','annually'),('annually','every year'),('per year','a year'),('every day','daily'),('film','movie'),('children','kids'),('entire','whole'),('almost','nearly'),('nearly','almost'),('often','frequently'),('frequently','often'),('mainly','primarily'),('primarily','mainly'),('the United States','the US'),('United Kingdom','UK'),('allows','lets'),('permits','allows'),('so that','such that'),('although','though'),('while','whereas'),('attempted','tried'),('assist','help'),('various','different'),('usually','generally'),('wrote','authored'),('starred','acted'),('released','put out'),('won','was awarded'),('became','turned into'),('used','employed'),('uses','employs'),('makes','produces'),('produced','made'),('because','since'),('does not','doesn\'t'),('did not','didn\'t'),('is not','isn\'t'),('are not','aren\'t'),('was not','wasn\'t'),('cannot','can\'t')]
def t_phr(s,c,R):
    o=[(m,y) for x,y in PHR for m in re.finditer(r'\b'+re.escape(x)+r'(?!\w| for\b| to\b| up\b| on\b| out\b)',s) if not(x=='over' and not re.match(r'over (\d|one|two|three|half|a )',s[m.start():])) and not(x=='more than' and not re.match(r'more than (\d|one|two|three|half|a )',s[m.start():])) and x not in('about','film')]
    if not o: return
    m,y=R.choice(o); return re.sub(r'  +',' ',sub(s,m.start(),m.end(),y)).replace(' ,',',')
def t_pass(s,c,R):
    m=re.match(r"^((?:The |A |An )?[A-Z][\w' -]{2,60}?) (was|were|is|are) (\w+ed|won|built|made|written|held|led|found|taken|given|known|seen|chosen|driven|fought|sold|bought|taught|sung|drawn) by ((?:the |a |an )?[\w' -]{2,50}?)( in \d{4}| on [A-Z]\w+ \d+)?\.?$",s)
    if not m: return
    X,be,v,Y,t=m.groups(); l=lemmas(v,'VERB')
    if not l: return
    f=infl(l[0],'VBD') if be in('was','were') else infl(l[0],'VBZ')
    if not f: return
    x=X if not re.match(r'(The|A|An) ',X) else X[0].lower()+X[1:]
    return f'{cap(Y)} {f} {x}{t or ""}.'
def t_drop(s,c,R):
    o=[]
    m=re.match(r'^(?:In|On|During|After|By|At|Since|From|Following|Today|Currently|However|Moreover|Furthermore|Additionally|For example|As a result|Historically)[^,]{0,50}, (.{20,})$',s)
    if m and not re.search(r'\b(not|no|only|first|last)\b',s): o.append(cap(m.group(1)))
    p=re.sub(r' ?\([^()]{2,80}\)','',s)
    if p!=s: o.append(p)
    for m in re.finditer(r', (?:which|who|a|an|the|also|including|such as|where) [^,]{5,80}, ',s): o.append(s[:m.start()]+' '+s[m.end():])
    m=re.search(r'^(.{25,}?), (?:which|who|and|but|while|with|where|although|as|including|such as|making|leading|resulting) [^.;]{8,}\.$',s)
    if m and len(m.group(1).split())>5 and not re.search(r'\b(if|unless|either|neither|not)\b',m.group(1)) and not re.match(r'^(If|When|While|Although|Unless|As|Because|Since)\b',s) and ' and ' not in m.group(1)[-30:] and ',' not in m.group(1): o.append(m.group(1)+'.')
    m=re.search(r'^(.{25,}?)(?:; ).{8,}\.$',s)
    if m: o.append(m.group(1)+'.')
    o=[x for x in o if len(x.split())>=5 and len(x)<len(s)]
    return R.choice(o) if o else None
def t_reord(s,c,R):
    m=re.match(r'^((?:In|On|During|By|After|Since|Before|At) (?!.*\b(?:is|was|were|are|had|has)\b.*,)[^,]{3,32}), (?!and |but |or )([^,]{15,150})\.$',s)
    if m:
        b=m.group(2); f=b.split(' ')[0]
        if f in SKIP or re.match(r'[a-z]',f): b=cap(b)
        return f'{b} {m.group(1)[0].lower()+m.group(1)[1:]}.'
    m=re.match(r'^([^,]{15,150}) ((?:in|on|during|since|after|before) (?:[A-Z]\w+ )?(?:\d{1,2}, )?\d{4})\.$',s)
    if m: return f'{cap(m.group(2))}, {m.group(1)[0].lower()+m.group(1)[1:] if m.group(1).split(" ")[0] in SKIP else m.group(1)}.'
def t_title(s,c,R):
    t=c.get('title'); t=re.sub(r' \(.*?\)$','',t) if t else ''
    m=re.match(r'^(It|He|She) (?=\w)',s)
    if t and m and len(t)<40: return t+' '+s[m.end():]
def t_frame(s,c,R):
    b=s if s.split(' ')[0] not in SKIP else s[0].lower()+s[1:]
    return R.choice([f'It is stated that {b}',f'The text says that {b}',f'The page says {b}',f'It is true that {b}',s.rstrip('.')])
def t_negant(s,c,R):
    m=re.search(r'\b(is|are|was|were) (open|closed|legal|illegal|public|private|true|false|possible|impossible|known|alive|dead|successful|unsuccessful|common|rare|large|small|high|low|required|optional|mandatory|free|allowed|forbidden|permitted|prohibited|included|excluded|accepted|rejected|temporary|permanent|active|inactive)\b(?! by)',s)
    if m: return sub(s,m.start(),m.end(),f'{m.group(1)} not {ANTM[m.group(2)]}')
    m=re.search(r'\bmore than (?=\d|half|one|two)',s)
    if m: return sub(s,m.start(),m.end(),'not less than ')
TRUE=dict(num=t_num,syn=t_syn,phrase=t_phr,passive=t_pass,drop=t_drop,reorder=t_reord,title=t_title,frame=t_frame,negated_truth=t_negant)
TW=dict(num=2,syn=1.2,phrase=3,passive=9,drop=3,reorder=4,title=3,frame=.6,negated_truth=9)
def reword(s,c,R,n):
    used=[]
    for _ in range(n):
        ks=sorted(TRUE,key=lambda k:-TW[k]*R.random())
        for k in ks:
            if k in used: continue
            x=TRUE[k](s,c,R)
            if x and x!=s and len(x)>12: s=x; used.append(k); break
    return s,used
def context(sents,title=''):
    E=[];yrs=[];vs=set();ns=set()
    for s in sents:
        E+=[(e[2],e[3]) for e in ents(s)]; yrs+=re.findall(r'\b(?:1[0-9]{3}|20[0-4]\d)\b',s)
        for a,b,w in words(s):
            if w in STOP: continue
            v=vtag(w)
            if v and v[1] in('VBD','VBZ') and W.idx.get(('noun',w),(0,))[0]==0: vs.add(v[0])
            n=lemmas(w,'NOUN')
            if n: ns.add(n[0])
    return dict(ents=list(dict.fromkeys(E)),years=yrs,verbs=sorted(vs),nouns=ns,title=title)
