"""Cross-encoder on MiniLM in plain torch; token types: 0 claim, 1 evidence, 2 claim piece absent from evidence, 3 evidence piece absent from claim."""
import json,torch,torch.nn as nn,torch.nn.functional as F
class Layer(nn.Module):
    def __init__(s,d,h,f):
        super().__init__(); s.h=h; s.qkv=nn.Linear(d,3*d); s.o=nn.Linear(d,d); s.n1=nn.LayerNorm(d,eps=1e-12); s.i=nn.Linear(d,f); s.f=nn.Linear(f,d); s.n2=nn.LayerNorm(d,eps=1e-12)
    def forward(s,x,m,p):
        B,L,D=x.shape; q,k,v=s.qkv(x).view(B,L,3,s.h,D//s.h).permute(2,0,3,1,4)
        w=torch.matmul(q*(D//s.h)**-.5,k.transpose(-1,-2))+m; a=torch.matmul(torch.softmax(w,-1).to(v.dtype),v).transpose(1,2).reshape(B,L,D)
        x=s.n1(x+s.o(a)); return s.n2(x+s.f(F.gelu(s.i(x))))
class XEnc(nn.Module):
    def __init__(s,vocab=30522,d=384,h=12,f=1536,layers=6,types=4,labels=3,maxpos=512):
        super().__init__(); s.w=nn.Embedding(vocab,d); s.p=nn.Embedding(maxpos,d); s.t=nn.Embedding(types,d); s.n=nn.LayerNorm(d,eps=1e-12)
        s.layers=nn.ModuleList(Layer(d,h,f) for _ in range(layers)); s.pool=nn.Linear(d,d); s.out=nn.Linear(d,labels); s.drop=0.1
    def forward(s,ids,tt,am):
        x=s.n(s.w(ids)+s.p(torch.arange(ids.shape[1],device=ids.device))+s.t(tt)); x=F.dropout(x,s.drop,s.training)
        m=torch.zeros(am.shape,dtype=x.dtype,device=x.device).masked_fill(~am,-1e4)[:,None,None,:]
        for l in s.layers: x=l(x,m,s.drop)
        return s.out(F.dropout(torch.tanh(s.pool(x[:,0])),s.drop,s.training))
    @classmethod
    def from_st(c,path,layers=6):
        from safetensors.torch import load_file
        w=load_file(path+'/model.safetensors'); w={k.replace('bert.',''):v.float() for k,v in w.items()}; m=c(layers=layers)
        m.w.weight.data.copy_(w['embeddings.word_embeddings.weight']); m.p.weight.data.copy_(w['embeddings.position_embeddings.weight'])
        t=w['embeddings.token_type_embeddings.weight']; m.t.weight.data.copy_(torch.stack([t[0],t[1],t[0],t[1]])+torch.cat([torch.zeros(2,t.shape[1]),.02*torch.randn(2,t.shape[1])]))
        m.n.weight.data.copy_(w['embeddings.LayerNorm.weight']); m.n.bias.data.copy_(w['embeddings.LayerNorm.bias'])
        pick={6:[0,1,2,3,4,5],4:[0,1,3,5],3:[0,2,5]}[layers]
        for l,i in zip(m.layers,pick):
            P=f'encoder.layer.{i}.'; g=lambda k:w[P+k]
            for a in('weight','bias'):
                getattr(l.qkv,a).data.copy_(torch.cat([g(f'attention.self.{z}.{a}') for z in('query','key','value')]))
                getattr(l.o,a).data.copy_(g('attention.output.dense.'+a)); getattr(l.n1,a).data.copy_(g('attention.output.LayerNorm.'+a))
                getattr(l.i,a).data.copy_(g('intermediate.dense.'+a)); getattr(l.f,a).data.copy_(g('output.dense.'+a)); getattr(l.n2,a).data.copy_(g('output.LayerNorm.'+a))
        return m
